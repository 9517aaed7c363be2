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

# own_data FOLDER [NAME]: a small dataset of a user with two domains, for the tests of trust.
own_data() {
  mkdir -p "$1"
  printf '%s\n' "name = \"${2:-own}\"" 'domain = "d"' '[train]' 'domains = ["a"]' '[validation]' \
    'domains = ["b"]' '[test]' 'domains = ["c"]' > "$1/dataset.toml"
  awk -v folder="$1/" 'BEGIN {
    nodes = folder "nodes.csv"; edges = folder "edges.csv"
    print "id,label,d,x,y" > nodes; print "source,target" > edges
    for (i = 0; i < 90; ++i) {
      printf "%d,%d,%s,%g,%g\n", i, i % 2, substr("abc", int(i / 30) + 1, 1), i % 2 + i % 7 / 7,
        i % 5 > nodes
      printf "%d,%d\n", i, int(i / 30) * 30 + (i + 2) % 30 > edges
    } }'
}
