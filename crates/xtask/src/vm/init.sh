#!/bin/busybox sh
# The first process of a guest. Runs each script in /commands and sends what it
# wrote through the second serial port; the kernel talks on the first.
/bin/busybox mkdir -p /proc /sys /dev /tmp /run/lock /etc
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp TERM=dumb
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /tmp
insmod /lib/msr.ko
# Bytes pass unchanged.
stty -F /dev/ttyS1 raw -echo
exec 3> /dev/ttyS1
echo '#up' >&3
cd /tmp
for script in /commands/*; do
  sh "$script" > /dev/shm/out 2> /dev/shm/err < /dev/null
  code=$?
  echo "#ran $code $(wc -c < /dev/shm/out) $(wc -c < /dev/shm/err)" >&3
  cat /dev/shm/out /dev/shm/err >&3
  echo >&3
done
echo '#end' >&3
exec 3>&-
poweroff -f
