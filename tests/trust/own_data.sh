# own FOLDER NAME NOISE DOMAINS...: a folder of own data with 40 nodes in each domain, train, validation and test in
# this order. Three of five nodes of a domain are of class 0 in training and validation, two of five in test. A NOISE of
# 0 lets a column tell the class, 1 lets it tell nothing.
own() {
  local folder=$1 name=$2 noise=$3 domain place=0
  shift 3
  mkdir -p "$folder"
  {
    printf 'name = "%s"\nmetric = "accuracy"\nundirected = true\n' "$name"
    printf '[train]\ndomains = ["%s"]\n[validation]\ndomains = ["%s"]\n[test]\ndomains = [' "$1" "$2"
    printf '"%s", ' "${@:3}"
    printf ']\n'
  } > "$folder/dataset.toml"
  for domain in "$@"; do
    mkdir -p "$folder/$domain"
    awk -v folder="$folder/$domain/" -v noise="$noise" -v place=$place 'BEGIN {
      print "id,label,a,b" > (folder "nodes.csv")
      print "source,target" > (folder "edges.csv")
      for (i = 0; i < 40; ++i) {
        y = place < 2 ? (i % 5 > 2) : (i % 5 > 1)
        printf "n%d,%d,%.4f,%.4f\n", i, y, (1 - noise) * 4 * y + sin(7 * i + place), \
          cos(3 * i) + place > (folder "nodes.csv")
        printf "n%d,n%d\n", i, (i + 5) % 40 > (folder "edges.csv")
      }
    }'
    place=$((place + 1))
  done
}
