#!/usr/bin/env bash
# fresh.sh [FOLDER]: what a newcomer waits for. Makes minimal Debian 12 roots in FOLDER (default: a new one under
# /var/tmp), clones this repository into one, times `make demo` and `make test` there without a compiler cache, then
# installs the package of `make deb` in another root and trains with it. The table goes to stdout:
#   scripts/fresh.sh > results/fresh.md
# GRM_FRESH="demo test deb" names what is done. Needs root and debootstrap; the mirror is that of this machine's apt.
set -euo pipefail
cd "$(dirname "$0")/.."
parts=${GRM_FRESH:-demo test deb}
suite=bookworm
folder=${1:-$(mktemp -d /var/tmp/grm-fresh.XXXXXX)}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
repository=$(git rev-parse --show-toplevel)
[ "$(id -u)" = 0 ] || { echo "fresh.sh: only root may make such a root" >&2; exit 1; }
command -v debootstrap > /dev/null || { echo "fresh.sh: install debootstrap" >&2; exit 1; }

sources=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' | sort -u |
  awk -v suite=$suite '$2 ~ "^" suite "(-updates|-security)?$" { print "deb " $1 " " $2 " main" }')
mirror=$(awk -v suite=$suite '$3 == suite { print $2; exit }' <<< "$sources")
[ -n "$mirror" ] || { echo "fresh.sh: apt of this machine knows no Debian $suite" >&2; exit 1; }

# new_root NAME: a minimal root with make and git, as somebody has who cloned the repository.
new_root() {
  local root=$folder/$1
  rm -rf --one-file-system "$root"
  if [ ! -d "$folder/base" ]; then
    debootstrap --variant=minbase --include=ca-certificates,make,git "$suite" "$folder/base.new" "$mirror" >&2
    printf '%s\n' "$sources" > "$folder/base.new/etc/apt/sources.list"
    mv "$folder/base.new" "$folder/base"
  fi
  cp -a "$folder/base" "$root"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
}

# inside NAME COMMAND: in that root, with nothing of this machine's environment.
inside() {
  local root=$folder/$1
  unshare --mount --pid --fork bash -c '
    mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount -t tmpfs tmpfs "$0/dev/shm" &&
    exec chroot "$0" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 bash -c "$1"' \
    "$root" "$2" >&2
}

rows=()
# row WORDS SECONDS STATE
row() { rows+=("| $1 | $(($2 / 60)) min $(($2 % 60)) s | $3 |"); }
# timed WORDS ROOT COMMAND: a row of the table.
timed() {
  local start=$SECONDS state=ok
  inside "$2" "$3" || state="failed ($?)"
  row "$1" $((SECONDS - start)) "$state"
  [ "$state" = ok ] || failed=1
}

failed=0
new_root build
git clone -q "$repository" "$folder/build/root/grm"
case " $parts " in
  *' demo '*)
    # What `make demo` does, one thing after the other.
    start=$SECONDS
    timed '`make demo`: packages' build 'cd ~/grm && make setup'
    timed '`make demo`: the build' build 'cd ~/grm && make'
    timed '`make demo`: training' build 'cd ~/grm && make demo'
    row '`make demo` in all' $((SECONDS - start)) "$([ $failed = 0 ] && echo ok || echo failed)"
    ;;
esac
case " $parts " in *' test '*) timed '`make test` after it' build 'cd ~/grm && make test' ;; esac
case " $parts " in
  *' deb '*)
    timed '`make deb`' build 'cd ~/grm && make deb'
    new_root user
    cp "$folder"/build/root/grm/build-deb/grm_*.deb "$folder/user/root/grm.deb"
    timed 'install the package' user 'apt-get update -qq && apt-get install -y -qq --no-install-recommends ~/grm.deb'
    timed '`grm train` of the package' user \
      'cd && grm --version && grm doctor && grm train --dataset sbm --method erm,grm --epochs 20'
    ;;
esac

cat << TABLE
# On a fresh machine

A minimal Debian 12 (debootstrap), $(nproc) cores ($(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)), no compiler cache, commit $(git rev-parse --short HEAD).
Made by \`scripts/fresh.sh\`.

| what | time | result |
|---|---|---|
$(printf '%s\n' "${rows[@]}")

Where the build spent its time, in seconds of one core:

$(bash scripts/build_times.sh "$folder/build/root/grm/build" 2> /dev/null || echo "(nothing was built)")
TABLE
exit $failed
