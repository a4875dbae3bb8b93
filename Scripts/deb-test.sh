#!/usr/bin/env bash
# Installs the package into a Debian of its own and uses it there as a server would: start, append, upgrade under load, remove,
# purge. That Debian is made of this machine's packages: the essential ones and what the package depends on, and nothing of the
# toolchain. There is no systemd in it to ask: a script in its place starts and stops what the unit says.
#     Scripts/deb-test.sh OLD.deb NEW.deb
# Needs root (in a container, too). Everything is gone at its end.
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo 'Scripts/deb-test.sh: skipped, it needs root' >&2; exit 0; }
if [ "${1:-}" != inside ]; then
  exec unshare --mount --pid --fork --kill-child "$0" inside "$@"
fi
shift
old=$(readlink -f "$1") new=$(readlink -f "$2")
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d /tmp/sdeb.XXXX)
mount -t tmpfs -o size=2g,mode=755 sillok "$root"
trap 'umount -l "$root" 2>/dev/null; rmdir "$root" 2>/dev/null' EXIT
say() { printf 'deb-test: %s\n' "$*"; }
fail() { say "FAILED: $*"; exit 1; }

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
packages=$(closure $wanted)
for folder in bin sbin lib lib64; do
  mkdir -p "$root/usr/$folder"
  ln -s "usr/$folder" "$root/$folder"
done
mkdir -p "$root"/{proc,dev,tmp,run/systemd/system,etc,var/lib/dpkg/info,var/lib/dpkg/updates,var/log,root}
chmod 1777 "$root/tmp"
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
mount -t proc proc "$root/proc"
for device in null zero urandom random full; do touch "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"; done
for tool in swift swiftc clang gcc cc; do
  if chroot "$root" sh -c "command -v $tool" >/dev/null 2>&1; then fail "$tool is in the test's Debian"; fi
done
find "$root" -name 'libswift*' | grep -q . && fail 'a library of Swift is in the test'"'"'s Debian'
say "a Debian of $(echo "$packages" | wc -l) packages, without a toolchain"

# 2. What stands there for systemd: the unit's user, groups, folders and command.
cat > "$root/usr/bin/systemctl" <<'SYSTEMCTL'
#!/bin/sh
echo "$*" >> /var/log/systemctl
verb= units=
for word; do case "$word" in --*) ;; *) if [ -z "$verb" ]; then verb=$word; else units="$units $word"; fi ;; esac; done
running() { [ -s /run/syncd.pid ] && kill -0 "$(cat /run/syncd.pid)" 2>/dev/null; }
start() {
  running && return 0
  for folder in /var/lib/syncd /var/lib/syncd-witness; do install -d -m 700 -o syncd -g syncd "$folder"; done
  install -d -m 755 -o syncd -g syncd /run/syncd
  command=$(sed -n 's/^ExecStart=//p' /lib/systemd/system/syncd.service)
  (umask 077; exec setpriv --reuid syncd --regid syncd --init-groups --no-new-privs --bounding-set=-all $command) \
    </dev/null >/dev/null 2>>/var/log/syncd.log &
  echo $! > /run/syncd.pid
  i=0
  until syncctl --store /var/lib/syncd status >/dev/null 2>&1 || [ $i = 100 ]; do i=$((i + 1)); sleep 0.1; done
}
stop() {
  running || return 0
  kill "$(cat /run/syncd.pid)"
  i=0; while running && [ $i -lt 300 ]; do i=$((i + 1)); sleep 0.1; done
  rm -f /run/syncd.pid
}
case "$verb $units" in
  *syncd.socket*) case "$verb" in is-enabled|is-active) exit 3 ;; esac ;;
esac
case "$verb" in
  start) start ;;
  stop) case "$units" in *syncd.service*) stop ;; esac ;;
  restart) stop; start ;;
  is-active) running || exit 3 ;;
  is-enabled) echo enabled ;;
esac
exit 0
SYSTEMCTL
chmod 755 "$root/usr/bin/systemctl"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
deb_install() { cp "$1" "$root/tmp/package.deb"; inside dpkg --install /tmp/package.deb; }
asuser() { inside setpriv --reuid syncd --regid syncd --init-groups "$@"; }

# 3. Installed, it runs, as its own user, and takes events.
cp "$old" "$root/tmp/package.deb"
# No room for the 2 GiB that appends want to be left here.
mkdir -p "$root/etc/syncd/conf.d"
echo "{ storage: { min_free: '16MiB' } }" > "$root/etc/syncd/conf.d/10-test.conf"
deb_install "$old" >"$root/tmp/dpkg.log" 2>&1 || { cat "$root/tmp/dpkg.log"; fail 'install'; }
grep -q warning "$root/tmp/dpkg.log" && cat "$root/tmp/dpkg.log"
pid=$(cat "$root/run/syncd.pid")
owner=$(stat -c '%U %a' --cached=never "/proc/$pid" >/dev/null 2>&1; awk '/^Uid:/{print $2}' "/proc/$pid/status")
[ "$owner" = "$(inside id -u syncd)" ] || fail "it runs as $owner"
[ "$(inside stat -c '%U:%G %a' /var/lib/syncd/node.key)" = 'syncd:syncd 600' ] || fail 'modes of the key'
[ "$(inside stat -c '%U:%G %a' /run/syncd/api.sock)" = 'syncd:syncd-clients 660' ] ||
  fail "modes of the socket: $(inside stat -c '%U:%G %a' /run/syncd/api.sock)"
inside dpkg-query -W syncd | grep -q . || fail 'dpkg does not know it'
say "installed: $(inside dpkg-query -W syncd | tr '\t' ' '), $(inside du -sk /usr/bin/syncd /usr/bin/syncctl | tr '\n\t' ', ')"

# 4. Upgraded under load: what was acknowledged is there, each once, and nothing else was lost.
python3 - "$root/run/syncd/api.sock" "$root/tmp" <<'PYTHON' &
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
deb_install "$new" >"$root/tmp/dpkg.log" 2>&1 || { cat "$root/tmp/dpkg.log"; fail 'upgrade'; }
[ "$(cat "$root/run/syncd.pid")" != "$pid" ] || fail 'the upgrade has not started it anew'
sleep 3
touch "$root/tmp/enough"
wait "$load"
say "upgraded: $(inside dpkg-query -W syncd | tr '\t' ' ')"
asuser syncctl --store /var/lib/syncd export > "$root/tmp/export.ndjson"
python3 - "$root/tmp" <<'PYTHON' || fail 'acknowledged events are lost'
import collections, json, sys
folder = sys.argv[1]
stored = collections.Counter(json.loads(line).get('id') for line in open(folder + '/export.ndjson'))
acknowledged = open(folder + '/acknowledged').read().split()
lost = [id for id in acknowledged if stored[id] == 0]
double = [id for id in acknowledged if stored[id] > 1]
print(f'deb-test: {len(acknowledged)} acknowledged, {len(lost)} lost, {len(double)} stored twice')
sys.exit(1 if lost or double else 0)
PYTHON
inside deb-systemd-invoke stop syncd.service
asuser syncctl --store /var/lib/syncd verify >"$root/tmp/verify" 2>&1 || { cat "$root/tmp/verify"; fail 'verify'; }
inside deb-systemd-invoke start syncd.service

# 5. A changed configuration stays; a wrong one stops no daemon that runs.
echo "{ storage: { min_fre: '16MiB' } }" > "$root/etc/syncd/conf.d/20-wrong.conf"
pid=$(cat "$root/run/syncd.pid")
deb_install "$new" >"$root/tmp/dpkg.log" 2>&1 || { cat "$root/tmp/dpkg.log"; fail 'installing again'; }
grep -q "did you mean 'min_free'" "$root/tmp/dpkg.log" || fail 'the wrong configuration is not named'
[ "$(cat "$root/run/syncd.pid")" = "$pid" ] && kill -0 "$pid" || fail 'a wrong configuration has stopped the daemon'
rm "$root/etc/syncd/conf.d/20-wrong.conf"

# 6. Removed, the data stay; purged, they stay and are named; purged on demand, they are gone.
inside dpkg --remove syncd >"$root/tmp/dpkg.log" 2>&1 || { cat "$root/tmp/dpkg.log"; fail 'remove'; }
kill -0 "$pid" 2>/dev/null && fail 'it runs after it was removed'
[ -s "$root/var/lib/syncd/log.db" ] && [ -e "$root/var/lib/syncd/node.key" ] || fail 'remove has taken the data'
[ -e "$root/etc/syncd/syncd.json5" ] || fail 'remove has taken the configuration'
inside dpkg --purge syncd >"$root/tmp/dpkg.log" 2>&1 || { cat "$root/tmp/dpkg.log"; fail 'purge'; }
grep -q 'stay in /var/lib/syncd' "$root/tmp/dpkg.log" || fail 'purge does not say where the data are'
[ -s "$root/var/lib/syncd/log.db" ] || fail 'purge has taken the data'
[ -e "$root/etc/syncd/syncd.json5" ] && fail 'purge has left the configuration'
deb_install "$new" >"$root/tmp/dpkg.log" 2>&1 || fail 'installing after purge'
[ "$(inside syncctl --store /var/lib/syncd export 2>/dev/null | wc -l)" -ge "$(wc -l < "$root/tmp/acknowledged")" ] ||
  fail 'the data are not found again'
inside env SYNCD_PURGE_DATA=yes dpkg --purge syncd >"$root/tmp/dpkg.log" 2>&1 || fail 'purge with data'
[ -e "$root/var/lib/syncd" ] && fail 'the data are there after they were to be purged'
say 'removed, purged, installed again, purged with its data: as it should be'
