#!/usr/bin/env bash
# Builds kernel.wasm and kernel.json from the sources in this folder.
#
#   wasm/build.sh            build, and replace kernel.wasm and kernel.json
#   wasm/build.sh --verify   build in a temporary folder and compare with the committed digest
#
# Installs nothing. Needs Debian's Rust for the web, whose standard library source matches its compiler:
#   apt-get install --no-install-recommends rustc-web cargo-web rust-web-src clang-22 lld-22 llvm-22
# The result is the same, byte for byte, in any folder and with any cargo home, as long as the versions of
# these packages agree; kernel.json records them.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
rustc=/usr/bin/rustc
cargo=/usr/bin/cargo
target=wasm32-unknown-unknown

verify=false
case "${1:-}" in
  '') ;;
  --verify) verify=true ;;
  *) echo "usage: wasm/build.sh [--verify]" >&2; exit 2 ;;
esac

missing=()
for tool in "$rustc:rustc-web" "$cargo:cargo-web" clang-22:clang-22 wasm-ld-22:lld-22 llvm-ar-22:llvm-22; do
  command -v "${tool%%:*}" >/dev/null || missing+=("${tool##*:}")
done
if [ -x "$rustc" ] && [ ! -f "$("$rustc" --print sysroot)/lib/rustlib/src/rust/library/Cargo.lock" ]; then
  missing+=(rust-web-src)
fi
if [ ${#missing[@]} -gt 0 ]; then
  echo "kernel build: these Debian packages are missing: ${missing[*]}" >&2
  echo "  apt-get install --no-install-recommends rustc-web cargo-web rust-web-src clang-22 lld-22 llvm-22" >&2
  exit 3
fi

recorded() { # the value of a top-level "key": "value" of kernel.json
  sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$here/kernel.json" | head -n 1
}
# One digest over every source, so that an unchanged kernel need not be built to be believed.
source_digest() {
  (cd "$here" && find Cargo.lock Cargo.toml ahash build.sh src -type f | LC_ALL=C sort | xargs sha256sum) | sha256sum | cut -d' ' -f1
}
rustc_version="$("$rustc" --version)"
cargo_version="$("$cargo" --version)"
clang_version="$(clang-22 --version | head -n 1)"
lld_version="$(wasm-ld-22 --version | head -n 1)"

if $verify; then
  for pair in "rustc=$rustc_version" "cargo=$cargo_version" "clang=$clang_version" "lld=$lld_version"; do
    if [ "$(recorded "${pair%%=*}")" != "${pair#*=}" ]; then
      echo "kernel verify: cannot compare, ${pair%%=*} is '${pair#*=}' here and was '$(recorded "${pair%%=*}")'" >&2
      exit 4
    fi
  done
fi

# A verification shares nothing with earlier builds but cargo's downloads.
scratch=''
if $verify; then
  scratch="$(mktemp -d)"
  trap 'rm -rf "$scratch"' EXIT
  mkdir "$scratch/wasm"
  cp -r "$here/Cargo.toml" "$here/Cargo.lock" "$here/ahash" "$here/src" "$scratch/wasm/"
  source_dir="$scratch/wasm"
  target_dir="$scratch/target"
else
  source_dir="$here"
  target_dir="${CARGO_TARGET_DIR:-$here/target}"
fi

# Panic locations hold paths. They, and whatever names this machine, are mapped away: the crate, cargo's home and
# its registry folder (whose name is made from the registry's host), and the build folder.
cargo_home="${CARGO_HOME:-$HOME/.cargo}"
CARGO_HOME="$cargo_home" "$cargo" fetch --locked --manifest-path "$source_dir/Cargo.toml" >&2
remaps=("--remap-path-prefix=$cargo_home=/cargo" "--remap-path-prefix=$source_dir=/kernel" "--remap-path-prefix=$target_dir=/build")
for registry in "$cargo_home"/registry/src/*/; do
  remaps+=("--remap-path-prefix=${registry%/}=/crates")
done
# 128 MiB is what an isolate has: an instance that wants more fails by itself, instead of taking the isolate along.
flags=(-C target-feature=+simd128 -C linker=wasm-ld-22 -C link-arg=--max-memory=134217728 "${remaps[@]}")
# The unit separator lets a path hold a blank.
CARGO_ENCODED_RUSTFLAGS="$(IFS=$'\x1f'; echo "${flags[*]}")"
export CARGO_ENCODED_RUSTFLAGS

export CARGO_HOME="$cargo_home" CARGO_TARGET_DIR="$target_dir"
export RUSTC="$rustc" RUSTC_BOOTSTRAP=1
export CC_wasm32_unknown_unknown=clang-22 AR_wasm32_unknown_unknown=llvm-ar-22
export CFLAGS_wasm32_unknown_unknown="-O3 -msimd128 -ffile-prefix-map=$cargo_home=/cargo"
"$cargo" build --locked --release --lib --manifest-path "$source_dir/Cargo.toml" \
  --target "$target" -Zbuild-std=std,panic_abort >&2

built="$target_dir/$target/release/floe_kernel.wasm"
sha256="$(sha256sum "$built" | cut -d' ' -f1)"
for word in "${cargo_home#/}" index.crates.io; do
  if strings -n 6 "$built" | grep -qF -- "$word"; then
    echo "kernel build: the module holds '$word': a path escaped the remapping" >&2
    exit 5
  fi
done

if $verify; then
  if [ "$sha256" = "$(recorded sha256)" ]; then
    echo "kernel verify: the sources give the committed kernel.wasm ($sha256)"
    exit 0
  fi
  echo "kernel verify: DIFFERENT. built $sha256, committed $(recorded sha256)" >&2
  exit 1
fi

crate_version() { awk -v name="$1" '$0 == "name = \"" name "\"" { getline; gsub(/version = |"/, ""); print; exit }' "$here/Cargo.lock"; }
cp "$built" "$here/kernel.wasm"
chmod 644 "$here/kernel.wasm"
cat > "$here/kernel.json" <<JSON
{
  "sha256": "$sha256",
  "sourceSha256": "$(source_digest)",
  "bytes": $(stat -c %s "$built"),
  "gzipBytes": $(gzip -9 -n -c "$built" | wc -c),
  "rustc": "$rustc_version",
  "cargo": "$cargo_version",
  "clang": "$clang_version",
  "lld": "$lld_version",
  "crates": {
    "arrow-array": "$(crate_version arrow-array)",
    "arrow-ipc": "$(crate_version arrow-ipc)",
    "parquet": "$(crate_version parquet)",
    "serde_json": "$(crate_version serde_json)",
    "snap": "$(crate_version snap)",
    "zstd-sys": "$(crate_version zstd-sys)"
  }
}
JSON
echo "kernel build: $here/kernel.wasm, $(stat -c %s "$built") bytes, sha256 $sha256"
