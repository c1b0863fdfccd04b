#!/usr/bin/env bash
# Sees to it that the machine has what `make test` needs. On Debian, as root, what is missing is
# installed; anywhere else it is named and the script fails.
set -euo pipefail

PYTHON=${PYTHON:-python3}

# what is needed | Debian package | command that succeeds when it is there
requirements() {
  cat <<TABLE
git|git|command -v git
make|make|command -v make
Python 3.11 or newer|python3|$PYTHON -c 'import sys; sys.exit(sys.version_info < (3, 11))'
the Python modules venv and ensurepip|python3-venv|$PYTHON -c 'import venv, ensurepip'
the server of PostgreSQL|postgresql|command -v initdb || ls /usr/lib/postgresql/*/bin/initdb
the compilers of C and C++|g++|command -v gcc && command -v g++
the compiler clang|clang|command -v clang && command -v clang++
the linker lld|lld|command -v ld.lld
the emulator of ARM machines|qemu-system-arm|command -v qemu-system-arm
the emulator of RISC-V machines|qemu-system-misc|command -v qemu-system-riscv64
the tools of LLVM|llvm|command -v llvm-nm
the library Eigen|libeigen3-dev|test -d /usr/include/eigen3
the compiler of Fortran|gfortran|command -v gfortran
the compiler of Rust|rustc|command -v rustc
Octave|octave|command -v octave-cli
Node.js|nodejs|command -v node
the browser Chromium|chromium|command -v chromium
pdflatex|texlive-latex-base|command -v pdflatex
the LaTeX package booktabs|texlive-latex-recommended|kpsewhich booktabs.sty
the fonts Latin Modern|lmodern|kpsewhich lmodern.sty
the tools of Poppler|poppler-utils|command -v pdftotext
TABLE
}

# Prints the rows of the table whose command fails.
missing() {
  local what package probe
  while IFS='|' read -r what package probe; do
    bash -c "$probe" >/dev/null 2>&1 </dev/null || printf '%s|%s\n' "$what" "$package"
  done < <(requirements)
}

is_debian_root() {
  [ "$(id -u)" -eq 0 ] && [ -f /etc/debian_version ] && command -v apt-get >/dev/null
}

rows=$(missing)
[ -n "$rows" ] || exit 0

if is_debian_root; then
  mapfile -t packages < <(cut -d'|' -f2 <<<"$rows" | sort -u)
  echo "Installing: ${packages[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
  rows=$(missing)
  [ -n "$rows" ] || exit 0
fi

{
  echo "Missing on this machine:"
  while IFS='|' read -r what package; do
    echo "  $what (Debian package: $package)"
  done <<<"$rows"
} >&2
exit 1
