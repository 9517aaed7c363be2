# gnuplot best-graph-ablation.gp
set encoding utf8
set title 'Ablation' noenhanced
set xlabel '' noenhanced
set ylabel 'mean over test domains, percent' noenhanced
set key outside right top vertical Left reverse noenhanced
set border 3 linecolor rgb 'black'
set grid ytics back linetype 1 linecolor rgb '#CCCCCC' linewidth 0.5
set tics nomirror
set xtics ('spmotif' 0, 'molhiv' 1) noenhanced
set xrange [-0.5:1.5]
set yrange [0:*]
set terminal svg size 760,420 font 'Helvetica,13' background rgb 'white'
set output 'best-graph-ablation.svg'
plot 'best-graph-ablation.dat' index 0 using ($1+(-0.363636)):2:(0.066909) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#D55E00' title 'GRM', \
     'best-graph-ablation.dat' index 0 using ($1+(-0.363636)):4:(0):($5-$4) with vectors heads size 0.018182,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-graph-ablation.dat' index 1 using ($1+(-0.290909)):2:(0.066909) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#0072B2' title 'no skip', \
     'best-graph-ablation.dat' index 1 using ($1+(-0.290909)):4:(0):($5-$4) with vectors heads size 0.018182,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-graph-ablation.dat' index 2 using ($1+(-0.218182)):2:(0.066909) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#009E73' title 'concatenated inputs', \
     'best-graph-ablation.dat' index 2 using ($1+(-0.218182)):4:(0):($5-$4) with vectors heads size 0.018182,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-graph-ablation.dat' index 3 using ($1+(-0.145455)):2:(0.066909) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#CC79A7' title 'gcn2 encoder', \
     'best-graph-ablation.dat' index 3 using ($1+(-0.145455)):4:(0):($5-$4) with vectors heads size 0.018182,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-graph-ablation.dat' index 4 using ($1+(-0.072727)):2:(0.066909) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#8A7A00' title 'latent 128', \
     'best-graph-ablation.dat' index 4 using ($1+(-0.072727)):4:(0):($5-$4) with vectors heads size 0.018182,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-graph-ablation.dat' index 5 using ($1+(0.000000)):2:(0.066909) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#56B4E9' title 'log sigma bias 0', \
     'best-graph-ablation.dat' index 5 using ($1+(0.000000)):4:(0):($5-$4) with vectors heads size 0.018182,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-graph-ablation.dat' index 6 using ($1+(0.072727)):2:(0.066909) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#E69F00' title 'KL summed over dimensions', \
     'best-graph-ablation.dat' index 6 using ($1+(0.072727)):4:(0):($5-$4) with vectors heads size 0.018182,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-graph-ablation.dat' index 7 using ($1+(0.145455)):2:(0.066909) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#777777' title 'all pairs', \
     'best-graph-ablation.dat' index 7 using ($1+(0.145455)):4:(0):($5-$4) with vectors heads size 0.018182,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-graph-ablation.dat' index 8 using ($1+(0.218182)):2:(0.066909) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#000000' title 'GRM\R', \
     'best-graph-ablation.dat' index 8 using ($1+(0.218182)):4:(0):($5-$4) with vectors heads size 0.018182,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-graph-ablation.dat' index 9 using ($1+(0.290909)):2:(0.066909) with boxes fillstyle solid 0.3 border rgb 'black' linecolor rgb '#D55E00' title 'GRM\I', \
     'best-graph-ablation.dat' index 9 using ($1+(0.290909)):4:(0):($5-$4) with vectors heads size 0.018182,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-graph-ablation.dat' index 10 using ($1+(0.363636)):2:(0.066909) with boxes fillstyle solid 0.3 border rgb 'black' linecolor rgb '#0072B2' title 'GRM\V', \
     'best-graph-ablation.dat' index 10 using ($1+(0.363636)):4:(0):($5-$4) with vectors heads size 0.018182,90 linewidth 1.2 linecolor rgb 'black' notitle
unset output
if (strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0) {
  set terminal pdfcairo size 18cm,10cm font 'Helvetica,11' background rgb 'white'
  set output 'best-graph-ablation.pdf'
  replot
  unset output
}
