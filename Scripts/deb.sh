#!/usr/bin/env bash
# Builds the Debian package of the programs from a release build, without a source package:
#     Scripts/deb.sh [--bin .build/release] [--out .build/deb] [--revision 1]
# Prints the package's path. The same programs and the same commit give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=.build/release out=.build/deb revision=1
while [ $# -gt 0 ]; do
  case "$1" in
    --bin) bin=$2 ;;
    --out) out=$2 ;;
    --revision) revision=$2 ;;
    *) echo "Scripts/deb.sh: there is no $1" >&2; exit 64 ;;
  esac
  shift 2
done
Scripts/install-packages dpkg-dev binutils >&2

version=$("$bin/syncd" --version | awk '{print $2}')-$revision
architecture=$(dpkg --print-architecture)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
umask 022

install -d "$root"/usr/bin "$root"/etc/syncd/conf.d "$root"/DEBIAN
for program in syncd syncctl sillok-bot sillok-gateway; do
  install -m 755 "$bin/$program" "$root/usr/bin/$program"
  # Frames of a crash are looked up in what is cut off here.
  install -d "$out/debug"
  objcopy --only-keep-debug "$bin/$program" "$out/debug/$program-$version.debug"
  strip --strip-unneeded --remove-section=.comment "$root/usr/bin/$program"
  "$bin/$program" --generate bash > "$work/completion"
  install -D -m 644 "$work/completion" "$root/usr/share/bash-completion/completions/$program"
  "$bin/$program" --generate zsh > "$work/completion"
  install -D -m 644 "$work/completion" "$root/usr/share/zsh/vendor-completions/_$program"
  "$bin/$program" --generate fish > "$work/completion"
  install -D -m 644 "$work/completion" "$root/usr/share/fish/vendor_completions.d/$program.fish"
done
manual() { # page section program
  install -d "$root/usr/share/man/man$2"
  "$bin/$3" --generate man | gzip -9n > "$root/usr/share/man/man$2/$1.$2.gz"
}
manual syncd 8 syncd
manual syncctl 1 syncctl
manual sillok-bot 8 sillok-bot
manual sillok-gateway 8 sillok-gateway

install -m 644 Examples/syncd.json5 "$root/etc/syncd/syncd.json5"
install -D -m 644 ops/systemd/syncd.service "$root/lib/systemd/system/syncd.service"
install -D -m 644 ops/systemd/syncd.socket "$root/lib/systemd/system/syncd.socket"
install -D -m 644 ops/systemd/sillok-bot@.service "$root/lib/systemd/system/sillok-bot@.service"
install -D -m 644 ops/systemd/sillok-gateway@.service "$root/lib/systemd/system/sillok-gateway@.service"
install -D -m 644 ops/systemd/sysusers.d/syncd.conf "$root/usr/lib/sysusers.d/syncd.conf"
install -D -m 644 ops/systemd/tmpfiles.d/syncd.conf "$root/usr/lib/tmpfiles.d/syncd.conf"

doc=$root/usr/share/doc/syncd
install -d "$doc/operating" "$doc/reference" "$doc/examples"
install -m 644 docs/operating/*.md "$doc/operating/"
install -m 644 docs/reference/*.md "$doc/reference/"
install -m 644 ops/prometheus/alerts.yml ops/grafana/sillok.json "$doc/examples/"
install -d "$doc/examples/bot"
install -m 644 Examples/bot/* "$doc/examples/bot/"
install -d "$doc/examples/arrive"
install -m 644 Examples/arrive/* "$doc/examples/arrive/"
install -m 755 Scripts/verify.py "$doc/examples/verify.py"
install -d "$doc/examples/sillok_verify"
install -m 644 Scripts/sillok_verify/*.py "$doc/examples/sillok_verify/"
install -m 644 ops/debian/copyright "$doc/copyright"
install -m 644 CHANGELOG.md "$doc/CHANGELOG.md"
{
  printf 'syncd (%s) bookworm; urgency=medium\n\n  * What has changed: /usr/share/doc/syncd/CHANGELOG.md\n\n' "$version"
  sed -n 's/^Maintainer: / -- /p' ops/debian/control | tr '\n' ' '
  date --utc --date="@$SOURCE_DATE_EPOCH" '+ %a, %d %b %Y %H:%M:%S +0000'
} | gzip -9n > "$doc/changelog.Debian.gz"
install -D -m 644 ops/debian/lintian-overrides "$root/usr/share/lintian/overrides/syncd"

# Which packages have the shared libraries, and from which versions on.
mkdir -p "$work/debian"
printf 'Source: syncd\n\nPackage: syncd\nArchitecture: any\n' > "$work/debian/control"
libraries=$(cd "$work" && dpkg-shlibdeps -O -e root/usr/bin/syncd -e root/usr/bin/syncctl -e root/usr/bin/sillok-bot -e root/usr/bin/sillok-gateway 2>"$work/warnings" |
  sed -n 's/^shlibs:Depends=//p')
[ -n "$libraries" ] || { cat "$work/warnings" >&2; exit 70; }

for script in postinst prerm postrm; do install -m 755 "ops/debian/$script" "$root/DEBIAN/$script"; done
install -m 644 ops/debian/conffiles "$root/DEBIAN/conffiles"
size=$(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)
sed -e "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@SIZE@/$size/; s/@LIBRARIES@/$libraries/" \
  ops/debian/control > "$root/DEBIAN/control"
(cd "$root" && find usr lib -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"
find "$root" -depth -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

package=$out/syncd_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package" >&2
echo "$package"
