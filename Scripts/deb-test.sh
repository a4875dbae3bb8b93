#!/usr/bin/env bash
# Installs the package into a Debian of its own, under a systemd of its own, and uses it as a server would: start, append, upgrade
# under load, hand over the socket, remove, purge. That Debian is made of this machine's packages: the essential ones, systemd and what
# the package depends on, and nothing of the toolchain.
#     Scripts/deb-test.sh OLD.deb NEW.deb
# Needs root and cgroup2 (a privileged container will do). Everything is gone at its end.
set -euo pipefail
skip() { echo "Scripts/deb-test.sh: skipped, $*" >&2; exit 0; }
[ "$(id -u)" = 0 ] || skip 'it needs root'
old=$(readlink -f "$1") new=$(readlink -f "$2")
root=$(mktemp -d /tmp/sdeb.XXXX)
chmod 755 "$root"
machine=
cleanup() {
  if [ -n "$machine" ]; then kill -KILL "$machine" 2>/dev/null || true; wait "$machine" 2>/dev/null || true; fi
  rm -rf --one-file-system "$root"
}
trap cleanup EXIT
say() { printf 'deb-test: %s\n' "$*"; }
fail() {
  say "FAILED: $*"
  inside journalctl --no-pager --lines 30 --unit syncd 2>/dev/null || true
  exit 1
}

# 1. A Debian.
closure() { # names of installed packages
  python3 - "$@" <<'PYTHON'
import re, subprocess, sys
rows = subprocess.run(['dpkg-query', '-W', '-f=${Package}\t${Essential}\t${Pre-Depends}, ${Depends}\t${Provides}\n'],
                      capture_output=True, text=True, check=True).stdout.splitlines()
needs, provides, essential = {}, {}, []
for row in rows:
    name, is_essential, wanted, given = row.split('\t')
    needs[name] = wanted
    if is_essential == 'yes': essential.append(name)
    for other in re.findall(r'[a-z0-9.+-]{2,}', re.sub(r'\([^)]*\)', '', given)): provides.setdefault(other, name)
found, queue = set(), essential + sys.argv[1:]
while queue:
    name = queue.pop()
    name = name if name in needs else provides.get(name)
    if not name or name in found: continue
    found.add(name)
    for group in needs[name].split(','):
        choices = [re.sub(r'[ (:].*', '', part.strip()) for part in group.split('|') if part.strip()]
        known = [part for part in choices if part in needs or part in provides]
        if known: queue.append(known[0])
print('\n'.join(sorted(found)))
PYTHON
}
wanted=$(dpkg-deb -f "$old" Depends | tr ',|' '\n\n' | sed 's/([^)]*)//; s/ //g')
# shellcheck disable=SC2086
packages=$(closure systemd systemd-sysv curl $wanted)
for folder in bin sbin lib lib64; do
  mkdir -p "$root/usr/$folder"
  ln -s "usr/$folder" "$root/$folder"
done
mkdir -p "$root"/{proc,sys,dev,tmp,run,etc,var/lib/dpkg/info,var/lib/dpkg/updates,var/log,root,oldroot}
for name in $packages; do dpkg -L "$name"; done | grep -v -e '/share/doc/' -e '/share/man/' -e '/share/locale/' -e '^/\.$' |
  LC_ALL=C sort -u | tar -C / --create --no-recursion --ignore-failed-read --files-from - 2>/dev/null |
  tar -C "$root" --extract --keep-directory-symlink --no-overwrite-dir 2>/dev/null || true
cp -a /etc/alternatives "$root/etc/"
cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
for name in $packages; do
  dpkg-query -s "$name"
  echo
done > "$root/var/lib/dpkg/status"
for name in $packages; do
  cp /var/lib/dpkg/info/"$name".list /var/lib/dpkg/info/"$name":*.list "$root/var/lib/dpkg/info/" 2>/dev/null || true
done
ldconfig -r "$root"
# Sessions of users are not for it.
mkdir -p "$root/etc/systemd/system"
for unit in systemd-logind.service dbus.service dbus.socket; do ln -s /dev/null "$root/etc/systemd/system/$unit"; done
# Without one it is a first boot, with questions at the console.
tr -d - < /proc/sys/kernel/random/uuid > "$root/etc/machine-id"
systemd-sysusers --root="$root" 2>/dev/null || true
for tool in swift swiftc clang gcc cc; do
  if chroot "$root" sh -c "command -v $tool" >/dev/null 2>&1; then fail "$tool is in the test's Debian"; fi
done
[ -z "$(find "$root/usr" -name 'libswift*')" ] || fail "a library of Swift is in the test's Debian"
say "a Debian of $(echo "$packages" | wc -l) packages, without a toolchain"

# 2. Its systemd, in namespaces of its own.
cat > "$root/boot.sh" <<'BOOT'
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sys sys
mount -t tmpfs -o mode=755 run run
mount -t tmpfs -o mode=1777 tmp tmp
mount -t tmpfs -o mode=755 dev dev
for device in null zero full random urandom tty; do
  touch dev/$device
  mount --bind /dev/$device dev/$device
done
ln -s /proc/self/fd dev/fd
mkdir dev/shm dev/pts dev/mqueue
mount -t devpts -o newinstance,ptmxmode=666 pts dev/pts
ln -s pts/ptmx dev/ptmx
mount -t cgroup2 none sys/fs/cgroup
mkdir -p "sys/fs/cgroup/sillok-deb-test"
echo 1 > sys/fs/cgroup/sillok-deb-test/cgroup.procs
pivot_root . oldroot
umount -l /oldroot
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  unshare --cgroup /lib/systemd/systemd --system --log-target=journal --show-status=0
BOOT
unshare --pid --mount --uts --ipc --fork --kill-child bash "$root/boot.sh" "$root" </dev/null >"$root/boot.log" 2>&1 &
machine=$!
init=
for _ in $(seq 100); do
  init=$(pgrep -P "$machine" || true)
  [ -n "$init" ] && [ -S "/proc/$init/root/run/systemd/private" ] && break
  sleep 0.1
done
inside() {
  nsenter --target "$init" --mount --root --pid --uts --ipc /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}
[ -n "$init" ] || skip 'systemd does not come up here'
for _ in $(seq 300); do
  state=$(inside timeout 5 systemctl is-system-running 2>/dev/null || true)
  case "$state" in running|degraded) break ;; esac
  sleep 0.1
done
case "$state" in running|degraded) ;; *) cat "$root/boot.log" >&2; inside timeout 5 systemctl list-jobs >&2 || true; skip "systemd does not come up here: $state" ;; esac
say "systemd $(inside systemctl --version | awk 'NR == 1 { print $2 }') is up: $state"
deb_install() {
  cp "$1" "$root/root/package.deb"
  inside dpkg --install /root/package.deb >"$root/dpkg.log" 2>&1 || { cat "$root/dpkg.log"; fail "installing $1"; }
}
asuser() { inside setpriv --reuid syncd --regid syncd --init-groups "$@"; }
main_pid() { inside systemctl show --property MainPID --value syncd; }
socket=/proc/$init/root/run/syncd/api.sock

# 3. Installed, it runs, as its own user, and takes events.
mkdir -p "$root/etc/syncd/conf.d"
echo "{ storage: { min_free: '16MiB' }, metrics: { listen: '127.0.0.1:7462' } }" > "$root/etc/syncd/conf.d/10-test.conf"
deb_install "$old"
inside systemctl is-active --quiet syncd || fail 'it does not run'
inside systemctl is-enabled --quiet syncd || fail 'it is not enabled'
inside systemctl is-enabled --quiet syncd.socket && fail 'the socket is enabled'
pid=$(main_pid)
[ "$(inside stat -c '%U' "/proc/$pid")" = syncd ] || fail "it runs as $(inside stat -c '%U' "/proc/$pid")"
[ "$(inside stat -c '%U:%G %a' /var/lib/syncd/node.key)" = 'syncd:syncd 600' ] || fail 'modes of the key'
[ "$(inside stat -c '%U:%G %a' /var/lib/syncd-witness)" = 'syncd:syncd 700' ] || fail 'modes of the witness'
[ "$(inside stat -c '%U:%G %a' /run/syncd/api.sock)" = 'syncd:syncd-clients 660' ] ||
  fail "modes of the socket: $(inside stat -c '%U:%G %a' /run/syncd/api.sock)"
inside curl -sf http://127.0.0.1:7462/readyz >/dev/null || fail 'it is not ready'
say "installed $(inside dpkg-query -W syncd | tr '\t' ' '): $(inside systemctl show --property StatusText --value syncd);" \
  "security $(inside systemd-analyze security --no-pager syncd | sed -n 's/^.*exposure level for syncd.service: \([0-9.]*\).*/\1/p')"

# 4. Upgraded under load: what was acknowledged is there, each once, and nothing else was lost.
python3 - "$socket" "$root" <<'PYTHON' &
import json, os, socket, sys, threading, time, uuid
path, folder = sys.argv[1:]
lock, acknowledged, retries, slowest = threading.Lock(), [], 0, 0.0
def ask(body):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(10); s.connect(path)
        s.sendall(b'POST /v1/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n' % len(body) + body)
        data = b''
        while piece := s.recv(65536): data += piece
    return data.startswith((b'HTTP/1.1 200 ', b'HTTP/1.1 201 '))
def work(number):
    global retries, slowest
    count = 0
    while not os.path.exists(folder + '/enough'):
        count += 1
        id = str(uuid.uuid4())
        body = json.dumps({'id': id, 'type': 'message.posted', 'user': f'u-{number}', 'data': {'text': f'{number} {count}'}}).encode()
        start = time.monotonic()
        while True:
            try:
                if ask(body): break
            except OSError: pass
            with lock: retries += 1
            time.sleep(0.02)
        with lock:
            acknowledged.append(id); slowest = max(slowest, time.monotonic() - start)
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for t in threads: t.start()
for t in threads: t.join()
with open(folder + '/acknowledged', 'w') as f: f.write('\n'.join(acknowledged) + '\n')
print(f'deb-test: {len(acknowledged)} appends acknowledged, {retries} tries again, the longest wait {slowest:.2f} s')
PYTHON
load=$!
sleep 4
deb_install "$new"
[ "$(main_pid)" != "$pid" ] || fail 'the upgrade has not started it anew'
sleep 3
touch "$root/enough"
wait "$load"
say "upgraded: $(inside dpkg-query -W syncd | tr '\t' ' ')"
asuser syncctl --store /var/lib/syncd export > "$root/export.ndjson"
python3 - "$root" <<'PYTHON' || fail 'acknowledged events are lost'
import collections, json, sys
folder = sys.argv[1]
stored = collections.Counter(json.loads(line).get('id') for line in open(folder + '/export.ndjson'))
acknowledged = open(folder + '/acknowledged').read().split()
lost = [id for id in acknowledged if stored[id] == 0]
double = [id for id in acknowledged if stored[id] > 1]
print(f'deb-test: {len(acknowledged)} acknowledged, {len(lost)} lost, {len(double)} stored twice')
sys.exit(1 if lost or double or not acknowledged else 0)
PYTHON
inside systemctl stop syncd
[ "$(inside systemctl show --property Result --value syncd)" = success ] || fail 'it did not end in order'
asuser syncctl --store /var/lib/syncd verify >"$root/verify" 2>&1 || { cat "$root/verify"; fail 'verify'; }
inside systemctl start syncd

# 5. A reload; a wrong configuration, which stops no daemon that runs; a daemon that hangs.
pid=$(main_pid)
echo "{ storage: { min_free: '17MiB' } }" > "$root/etc/syncd/conf.d/20-more.conf"
inside systemctl reload syncd
for _ in $(seq 50); do
  inside journalctl --no-pager --unit syncd | grep -q 'reloaded: storage.min_free: "16MiB" is "17MiB" now' && break
  sleep 0.1
done
inside journalctl --no-pager --unit syncd > "$root/journal"
grep -q 'reloaded: storage.min_free' "$root/journal" || fail 'reload'
echo "{ storage: { min_fre: '16MiB' } }" > "$root/etc/syncd/conf.d/20-more.conf"
deb_install "$new"
grep -q "did you mean 'min_free'" "$root/dpkg.log" || fail 'the wrong configuration is not named'
[ "$(main_pid)" = "$pid" ] || fail 'a wrong configuration has stopped the daemon'
rm "$root/etc/syncd/conf.d/20-more.conf"
mkdir -p "$root/etc/systemd/system/syncd.service.d"
printf '[Service]\nWatchdogSec=4s\nTimeoutAbortSec=2s\n' > "$root/etc/systemd/system/syncd.service.d/test.conf"
inside systemctl daemon-reload
inside systemctl restart syncd
pid=$(main_pid)
sleep 6
[ "$(main_pid)" = "$pid" ] || fail 'the watchdog has ended a daemon that gets on'
inside systemctl kill --signal STOP syncd
for _ in $(seq 150); do
  now=$(main_pid)
  [ "$now" != "$pid" ] && [ "$now" != 0 ] && inside systemctl is-active --quiet syncd && break
  sleep 0.1
done
[ "$(main_pid)" != "$pid" ] || fail 'the watchdog has not ended a daemon that stands still'
say 'reloaded; a wrong configuration refused; a daemon that stood still started anew by the watchdog'

# 6. The socket as systemd's: callers wait while the daemon starts anew.
inside systemctl stop syncd
inside systemctl enable --quiet --now syncd.socket
append() { inside curl -s --max-time 20 --unix-socket /run/syncd/api.sock http://x/v1/events -d '{"type":"note","user":"u","data":{}}'; }
append | grep -q '"appended"' || fail 'a caller of the socket is not served'
inside systemctl restart syncd &
restart=$!
for _ in 1 2 3 4 5 6 7 8; do append | grep -q '"appended"' || fail 'a caller was refused while the daemon started anew'; done
wait "$restart"
[ "$(inside stat -c '%U:%G %a' /run/syncd/api.sock)" = 'syncd:syncd-clients 660' ] || fail 'modes of the socket'
inside systemctl disable --quiet --now syncd.socket
inside systemctl restart syncd
say 'the socket handed over; no caller refused while the daemon started anew'

# 7. Removed, the data stay; purged, they stay and are named; purged on demand, they are gone.
remove() { inside env ${3:-A=b} dpkg "--$1" syncd >"$root/dpkg.log" 2>&1 || { cat "$root/dpkg.log"; fail "$2"; }; }
remove remove remove
inside systemctl is-active --quiet syncd && fail 'it runs after it was removed'
[ -s "$root/var/lib/syncd/log.db" ] && [ -e "$root/var/lib/syncd/node.key" ] || fail 'remove has taken the data'
[ -e "$root/etc/syncd/syncd.json5" ] || fail 'remove has taken the configuration'
remove purge purge
grep -q 'stay in /var/lib/syncd' "$root/dpkg.log" || fail 'purge does not say where the data are'
[ -s "$root/var/lib/syncd/log.db" ] || fail 'purge has taken the data'
[ ! -e "$root/etc/syncd/syncd.json5" ] || fail 'purge has left the configuration'
mkdir -p "$root/etc/syncd/conf.d"
echo "{ storage: { min_free: '16MiB' } }" > "$root/etc/syncd/conf.d/10-test.conf"
deb_install "$new"
asuser syncctl --store /var/lib/syncd export > "$root/export.ndjson"
[ "$(wc -l < "$root/export.ndjson")" -ge "$(wc -l < "$root/acknowledged")" ] || fail 'the data are not found again'
remove purge 'purge with its data' SYNCD_PURGE_DATA=yes
[ ! -e "$root/var/lib/syncd" ] || fail 'the data are there after they were to be purged'
say 'removed, purged, installed again, purged with its data: as it should be'
