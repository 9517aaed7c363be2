# gnuplot best-graph.gp
set encoding utf8
set title 'How far grm:best is above' noenhanced
set xlabel '' noenhanced
set ylabel 'difference of Avg in paired runs, points' noenhanced
set key outside right top vertical Left reverse noenhanced
set border 3 linecolor rgb 'black'
set grid ytics back linetype 1 linecolor rgb '#CCCCCC' linewidth 0.5
set tics nomirror
set xtics ('spmotif' 0, 'molhiv' 1) noenhanced
set xrange [-0.5:1.5]
set xzeroaxis linewidth 1.5
set terminal svg size 760,420 font 'Helvetica,13' background rgb 'white'
set output 'best-graph.svg'
plot 'best-graph.dat' index 0 using ($1+(-0.266667)):2:(0.245333) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#D55E00' title 'the best rival', \
     'best-graph.dat' index 0 using ($1+(-0.266667)):4:(0):($5-$4) with vectors heads size 0.066667,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-graph.dat' index 1 using ($1+(0.000000)):2:(0.245333) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#0072B2' title 'erm', \
     'best-graph.dat' index 1 using ($1+(0.000000)):4:(0):($5-$4) with vectors heads size 0.066667,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-graph.dat' index 2 using ($1+(0.266667)):2:(0.245333) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#009E73' title 'grm:gin', \
     'best-graph.dat' index 2 using ($1+(0.266667)):4:(0):($5-$4) with vectors heads size 0.066667,90 linewidth 1.2 linecolor rgb 'black' notitle
unset output
if (strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0) {
  set terminal pdfcairo size 18cm,10cm font 'Helvetica,11' background rgb 'white'
  set output 'best-graph.pdf'
  replot
  unset output
}
