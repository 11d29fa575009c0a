# All of the device's memory becomes one region; dax and kmem bring that online as a node.
awaited() {
  for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    ls -d $1 > /dev/null 2>&1 && return
    sleep 0.2
  done
  echo "cxl: no $1" > /dev/console
}
cd /sys/bus/cxl/devices
awaited mem0
awaited 'endpoint*/decoder*.0'
region=$(cat decoder0.0/create_ram_region)
echo "$region" > decoder0.0/create_ram_region
decoder=$(ls -d endpoint*/decoder*.0)
decoder=${decoder##*/}
bytes=$(cat mem0/ram/size)
echo ram > "$decoder/mode"
echo "$bytes" > "$decoder/dpa_size"
cd "$region"
echo 256 > interleave_granularity
echo 1 > interleave_ways
echo "$bytes" > size
echo "$decoder" > target0
echo 1 > commit
echo "$region" > /sys/bus/cxl/drivers/cxl_region/bind
awaited /sys/bus/dax/devices/dax0.0
for block in /sys/devices/system/memory/memory*/state; do
  read -r state < "$block"
  [ "$state" != offline ] || echo online_movable > "$block"
done
