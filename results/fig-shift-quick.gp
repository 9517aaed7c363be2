# gnuplot fig-shift-quick.gp
set encoding utf8
set title 'cora-mix under growing distribution shift' noenhanced
set xlabel 'bias ratio' noenhanced
set ylabel 'mean over test domains, percent' noenhanced
set key outside right top vertical Left reverse noenhanced
set border 3 linecolor rgb 'black'
set grid ytics back linetype 1 linecolor rgb '#CCCCCC' linewidth 0.5
set tics nomirror
set terminal svg size 760,420 font 'Helvetica,13' background rgb 'white'
set output 'fig-shift-quick.svg'
plot 'fig-shift-quick.dat' index 0 using 1:4:5 with filledcurves fillstyle transparent solid 0.13 noborder linecolor rgb '#000000' notitle, \
     'fig-shift-quick.dat' index 1 using 1:4:5 with filledcurves fillstyle transparent solid 0.13 noborder linecolor rgb '#D55E00' notitle, \
     'fig-shift-quick.dat' index 2 using 1:4:5 with filledcurves fillstyle transparent solid 0.13 noborder linecolor rgb '#0072B2' notitle, \
     'fig-shift-quick.dat' index 3 using 1:4:5 with filledcurves fillstyle transparent solid 0.13 noborder linecolor rgb '#009E73' notitle, \
     'fig-shift-quick.dat' index 0 using 1:2 with linespoints pointtype 7 pointsize 0.6 linewidth 2 dashtype 1 linecolor rgb '#000000' title 'erm', \
     'fig-shift-quick.dat' index 1 using 1:2 with linespoints pointtype 12 pointsize 0.6 linewidth 2 dashtype 5 linecolor rgb '#D55E00' title 'eerm', \
     'fig-shift-quick.dat' index 2 using 1:2 with linespoints pointtype 8 pointsize 0.6 linewidth 2 dashtype 4 linecolor rgb '#0072B2' title 'grm', \
     'fig-shift-quick.dat' index 3 using 1:2 with linespoints pointtype 4 pointsize 0.6 linewidth 2 dashtype 3 linecolor rgb '#009E73' title 'grm:centred'
unset output
if (strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0) {
  set terminal pdfcairo size 18cm,10cm font 'Helvetica,11' background rgb 'white'
  set output 'fig-shift-quick.pdf'
  replot
  unset output
}
