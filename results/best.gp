# gnuplot best.gp
set encoding utf8
set title 'How far grm:best is above' noenhanced
set xlabel '' noenhanced
set ylabel 'difference of Avg in paired runs, points' noenhanced
set key outside right top vertical Left reverse noenhanced
set border 3 linecolor rgb 'black'
set grid ytics back linetype 1 linecolor rgb '#CCCCCC' linewidth 0.5
set tics nomirror
set xtics ('cora' 0, 'photo' 1, 'fb100' 2, 'twitch' 3) noenhanced
set xrange [-0.5:3.5]
set xzeroaxis linewidth 1.5
set terminal svg size 760,420 font 'Helvetica,13' background rgb 'white'
set output 'best.svg'
plot 'best.dat' index 0 using ($1+(-0.300000)):2:(0.184000) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#D55E00' title 'the best rival', \
     'best.dat' index 0 using ($1+(-0.300000)):4:(0):($5-$4) with vectors heads size 0.050000,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best.dat' index 1 using ($1+(-0.100000)):2:(0.184000) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#0072B2' title 'erm', \
     'best.dat' index 1 using ($1+(-0.100000)):4:(0):($5-$4) with vectors heads size 0.050000,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best.dat' index 2 using ($1+(0.100000)):2:(0.184000) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#009E73' title 'erm + centring', \
     'best.dat' index 2 using ($1+(0.100000)):4:(0):($5-$4) with vectors heads size 0.050000,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best.dat' index 3 using ($1+(0.300000)):2:(0.184000) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#CC79A7' title 'grm:paper', \
     'best.dat' index 3 using ($1+(0.300000)):4:(0):($5-$4) with vectors heads size 0.050000,90 linewidth 1.2 linecolor rgb 'black' notitle
unset output
if (strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0) {
  set terminal pdfcairo size 18cm,10cm font 'Helvetica,11' background rgb 'white'
  set output 'best.pdf'
  replot
  unset output
}
