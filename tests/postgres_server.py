"""A PostgreSQL server of the test run's own: in a temporary folder, gone when the run ends."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

USER = "postgres"
DATABASE = "store"


def programs() -> Path:
    """Return the folder of initdb and postgres; fail where they are not installed."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    debian = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    folders += sorted((path.parent for path in debian), key=_version)
    if not folders:
        raise RuntimeError("PostgreSQL is not installed (Debian package: postgresql)")
    return folders[-1]


def _version(folder: Path) -> int:
    name = folder.parent.name
    return int(name) if name.isdigit() else 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def server() -> Generator[str]:
    """Start a server, give its address without a database name, and stop it.

    It refuses to run as root; then it runs as the user `postgres` that its package makes.
    """
    folder = Path(tempfile.mkdtemp(prefix="chainform-pg-", dir="/tmp"))
    user: str | None = None
    if os.geteuid() == 0:
        account = pwd.getpwnam(USER)
        os.chown(folder, account.pw_uid, account.pw_gid)
        user = USER
    data, bin_folder, port = folder / "data", programs(), _free_port()
    environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    subprocess.run(
        [bin_folder / "initdb", "-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"],
        check=True,
        capture_output=True,
        user=user,
        cwd=folder,
        env=environment,
    )
    settings = {
        "port": port,
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": folder,
        "fsync": "off",
        "full_page_writes": "off",
        "synchronous_commit": "off",
        "autovacuum": "off",
        "jit": "off",
        "max_connections": 60,
        "max_wal_size": "4GB",
        "shared_buffers": "128MB",
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [bin_folder / "postgres", "-D", data, *options],
            stdout=log,
            stderr=log,
            user=user,
            cwd=folder,
            env=environment,
        )
    try:
        _await(process, port, folder / "log")
        yield f"postgresql://{USER}@127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def empty_database(address: str) -> str:
    """Return the address of a database on a server that has nothing in it, as if it were new.

    It is the same one each time: to empty it takes a third of the time that a new one takes.
    """
    import psycopg
    from psycopg import sql

    with psycopg.connect(f"{address}/postgres", autocommit=True) as server:
        known = server.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,))
        if known.fetchone() is None:
            server.execute(f"CREATE DATABASE {DATABASE}")
            return f"{address}/{DATABASE}"
        connected = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        server.execute(connected, (DATABASE,))
        server.execute(f"ALTER DATABASE {DATABASE} RESET ALL")
    with psycopg.connect(f"{address}/{DATABASE}", autocommit=True) as database:
        own = "SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema$)'"
        for (name,) in database.execute(own).fetchall():
            database.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))
        database.execute("CREATE SCHEMA public AUTHORIZATION pg_database_owner")
        database.execute("GRANT USAGE ON SCHEMA public TO PUBLIC")
    return f"{address}/{DATABASE}"


def _await(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    import psycopg

    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        if process.poll() is not None:
            break
        try:
            psycopg.connect(host="127.0.0.1", port=port, user=USER, dbname="postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"PostgreSQL does not start:\n{log.read_text()}")
