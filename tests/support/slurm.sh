#!/usr/bin/env bash
# slurm.sh start DIR | stop DIR: a Slurm cluster of this one machine in DIR, as root, without systemd, cgroups or a
# database of accounts (Debian: slurmctld slurmd slurm-client munge). Keys, sockets and state are in DIR, so that
# another Slurm of the machine is not touched. Then: export SLURM_CONF=DIR/slurm.conf. Exit code 77 where it cannot run.
set -eu
what=$1
dir=$(realpath -m "$2")
PATH=$PATH:/usr/sbin
for program in munged slurmctld slurmd sbatch squeue scancel; do
  command -v $program > /dev/null || { echo "skipped: Slurm is not installed ($program is missing)"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: a Slurm cluster is started by root only"; exit 77; }
export SLURM_CONF=$dir/slurm.conf

# ended NAME: the daemon's process is gone.
ended() { ! kill -0 "$(cat "$dir/$1.pid" 2> /dev/null || echo 0)" 2> /dev/null; }

start() {
  mkdir -p "$dir"/{state,spool,log,munge}
  cd "$dir"
  chmod 0755 "$dir" munge
  local cpus host port=$((20000 + $$ % 20000))
  cpus=$(nproc)
  host=$(hostname -s)
  head -c 1024 /dev/urandom > munge/key
  chmod 0400 munge/key
  # --force: others may write to /tmp, on the way to the socket.
  munged --force --foreground --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
    --log-file="$dir/munge/log" --seed-file="$dir/munge/seed" > log/munged.out 2>&1 &
  echo $! > munged.pid
  # cred_expire: a job that is queued again waits for so long; less than 5 means two minutes.
  cat > slurm.conf << CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket,cred_expire=5
CredType=cred/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$dir/slurmctld.own
SlurmdPidFile=$dir/slurmd.own
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
InactiveLimit=0
KillWait=2
SlurmctldTimeout=30
SlurmdTimeout=30
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
  for _ in $(seq 50); do [ -S munge/socket ] && break; sleep 0.1; done
  slurmctld -D -i -f "$dir/slurm.conf" > log/slurmctld.out 2>&1 &
  echo $! > slurmctld.pid
  slurmd -D -f "$dir/slurm.conf" -N "$host" > log/slurmd.out 2>&1 &
  echo $! > slurmd.pid
  for _ in $(seq 200); do
    [ "$(sinfo -h -o %t 2> /dev/null)" = idle ] && return 0
    sleep 0.1
  done
  echo "Slurm did not start:" >&2
  tail -n 5 log/* >&2
  stop
  return 1
}

stop() {
  # slurmd leaves the jobs alive when it ends, so they are cancelled first.
  local jobs name
  jobs=$(timeout 5 squeue -h -o %A 2> /dev/null | sort -u) || jobs=
  if [ -n "$jobs" ]; then
    timeout 5 scancel $jobs || true
    for _ in $(seq 60); do [ -z "$(squeue -h 2> /dev/null)" ] && break; sleep 0.1; done
  fi
  for name in slurmd slurmctld munged; do
    ended $name || kill "$(cat "$dir/$name.pid")" 2> /dev/null || true
  done
  for name in slurmd slurmctld munged; do
    for _ in $(seq 100); do ended $name && break; sleep 0.1; done
    ended $name || kill -9 "$(cat "$dir/$name.pid")" 2> /dev/null || true
  done
}

case $what in
  start) start ;;
  stop) stop ;;
  *) echo "slurm.sh: '$what' is unknown" >&2; exit 2 ;;
esac
