#!/bin/busybox sh
# The first process of a guest. Runs each script in /commands and sends what it
# wrote through the serial port that the kernel's command line names; the kernel
# talks on another one.
/bin/busybox mkdir -p /proc /sys /dev /tmp /run/lock /etc
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp TERM=dumb
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp
# Which module needs which is not known here: what lacks another one loads at a later turn.
for turn in 1 2 3 4 5; do
  for module in /lib/modules/*.ko; do insmod "$module" 2> /dev/null; done
done
. /setup 2> /dev/console
# Bytes pass unchanged.
stty -F "$port" raw -echo
exec 3> "$port"
echo '#up' >&3
cd /tmp
for script in /commands/*; do
  begun=$(cut -d. -f1 /proc/uptime)
  sh "$script" > /dev/shm/out 2> /dev/shm/err < /dev/null
  code=$?
  echo "#ran $code $(($(cut -d. -f1 /proc/uptime) - begun)) $(wc -c < /dev/shm/out) $(wc -c < /dev/shm/err)" >&3
  cat /dev/shm/out /dev/shm/err >&3
  echo >&3
done
echo '#end' >&3
exec 3>&-
poweroff -f
