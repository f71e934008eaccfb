# Keeps one program. Its orders come through standard input, one word a line. When nobody holds the other end any more,
# however that came about, it ends the program and removes its folder.
#
# keeper SIGNAL FOLDER LOG PROGRAM ARGUMENT...
signal=$1 folder=$2 log=$3
shift 3
pid=
# The kernel sends it, and wakes what is paused, when whoever gave the orders dies: a process group with something paused in it
# and nobody left to wake it up. This must outlive that.
trap '' HUP
while read -r order; do
    case $order in
    start)
        (trap - HUP && exec "$@") </dev/null >>"$log" 2>&1 &
        pid=$!
        echo "$pid"
        ;;
    reap)
        # Only asked for once it has ended: this must not wait while nobody listens for orders.
        wait "$pid"
        echo "$?"
        pid=
        ;;
    esac
done
if [ -n "$pid" ]; then
    # Nobody but this shell reaps it, so the pid is still its own, also when it is dead by now.
    kill -"$signal" "$pid"
    # It may have been paused.
    kill -CONT "$pid"
    wait "$pid"
fi 2>/dev/null
# Postgres, killed, leaves a shared memory segment behind; the seventh line of this file ends in its id.
segment=$(sed -n 7p "$folder/data/postmaster.pid" 2>/dev/null)
[ -z "$segment" ] || ipcrm -m "${segment##* }" 2>/dev/null
rm -rf "$folder"
