# gnuplot best-ablation.gp
set encoding utf8
set title 'Ablation' noenhanced
set xlabel '' noenhanced
set ylabel 'mean over test domains, percent' noenhanced
set key outside right top vertical Left reverse noenhanced
set border 3 linecolor rgb 'black'
set grid ytics back linetype 1 linecolor rgb '#CCCCCC' linewidth 0.5
set tics nomirror
set xtics ('cora' 0, 'photo' 1, 'fb100' 2, 'twitch' 3) noenhanced
set xrange [-0.5:3.5]
set yrange [0:*]
set terminal svg size 760,420 font 'Helvetica,13' background rgb 'white'
set output 'best-ablation.svg'
plot 'best-ablation.dat' index 0 using ($1+(-0.369231)):2:(0.056615) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#D55E00' title 'GRM', \
     'best-ablation.dat' index 0 using ($1+(-0.369231)):4:(0):($5-$4) with vectors heads size 0.015385,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-ablation.dat' index 1 using ($1+(-0.307692)):2:(0.056615) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#0072B2' title 'no skip', \
     'best-ablation.dat' index 1 using ($1+(-0.307692)):4:(0):($5-$4) with vectors heads size 0.015385,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-ablation.dat' index 2 using ($1+(-0.246154)):2:(0.056615) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#009E73' title 'not centred', \
     'best-ablation.dat' index 2 using ($1+(-0.246154)):4:(0):($5-$4) with vectors heads size 0.015385,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-ablation.dat' index 3 using ($1+(-0.184615)):2:(0.056615) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#CC79A7' title 'gcn2 encoder', \
     'best-ablation.dat' index 3 using ($1+(-0.184615)):4:(0):($5-$4) with vectors heads size 0.015385,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-ablation.dat' index 4 using ($1+(-0.123077)):2:(0.056615) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#8A7A00' title 'latent 128', \
     'best-ablation.dat' index 4 using ($1+(-0.123077)):4:(0):($5-$4) with vectors heads size 0.015385,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-ablation.dat' index 5 using ($1+(-0.061538)):2:(0.056615) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#56B4E9' title 'log sigma bias 0', \
     'best-ablation.dat' index 5 using ($1+(-0.061538)):4:(0):($5-$4) with vectors heads size 0.015385,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-ablation.dat' index 6 using ($1+(0.000000)):2:(0.056615) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#E69F00' title 'KL summed over dimensions', \
     'best-ablation.dat' index 6 using ($1+(0.000000)):4:(0):($5-$4) with vectors heads size 0.015385,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-ablation.dat' index 7 using ($1+(0.061538)):2:(0.056615) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#777777' title 'ego-nets', \
     'best-ablation.dat' index 7 using ($1+(0.061538)):4:(0):($5-$4) with vectors heads size 0.015385,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-ablation.dat' index 8 using ($1+(0.123077)):2:(0.056615) with boxes fillstyle solid 0.85 border rgb 'black' linecolor rgb '#000000' title 'ego-nets, all pairs', \
     'best-ablation.dat' index 8 using ($1+(0.123077)):4:(0):($5-$4) with vectors heads size 0.015385,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-ablation.dat' index 9 using ($1+(0.184615)):2:(0.056615) with boxes fillstyle solid 0.3 border rgb 'black' linecolor rgb '#D55E00' title 'exact influence', \
     'best-ablation.dat' index 9 using ($1+(0.184615)):4:(0):($5-$4) with vectors heads size 0.015385,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-ablation.dat' index 10 using ($1+(0.246154)):2:(0.056615) with boxes fillstyle solid 0.3 border rgb 'black' linecolor rgb '#0072B2' title 'GRM\R', \
     'best-ablation.dat' index 10 using ($1+(0.246154)):4:(0):($5-$4) with vectors heads size 0.015385,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-ablation.dat' index 11 using ($1+(0.307692)):2:(0.056615) with boxes fillstyle solid 0.3 border rgb 'black' linecolor rgb '#009E73' title 'GRM\I', \
     'best-ablation.dat' index 11 using ($1+(0.307692)):4:(0):($5-$4) with vectors heads size 0.015385,90 linewidth 1.2 linecolor rgb 'black' notitle, \
     'best-ablation.dat' index 12 using ($1+(0.369231)):2:(0.056615) with boxes fillstyle solid 0.3 border rgb 'black' linecolor rgb '#CC79A7' title 'GRM\V', \
     'best-ablation.dat' index 12 using ($1+(0.369231)):4:(0):($5-$4) with vectors heads size 0.015385,90 linewidth 1.2 linecolor rgb 'black' notitle
unset output
if (strstrt(GPVAL_TERMINALS, 'pdfcairo') > 0) {
  set terminal pdfcairo size 18cm,10cm font 'Helvetica,11' background rgb 'white'
  set output 'best-ablation.pdf'
  replot
  unset output
}
