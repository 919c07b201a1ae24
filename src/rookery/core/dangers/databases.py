"""Databases: their shells, which are given SQL or commands of their own, and the tools beside
them."""

import re

from rookery.core.command_line.arguments import Arguments
from rookery.core.command_line.words import Simple, Word, listed, options_table
from rookery.core.dangers import sql

_QUEUES = "deletes messages or queues"

TABLE = f"""
dropdb :: deletes a whole database (dropdb)
dropuser :: deletes a database user (dropuser)
pg_dropcluster #1 :: deletes a whole database (pg_dropcluster)
pg_resetwal #1 !-n|--dry-run :: may lose transactions (pg_resetwal)
pg_restore -c|--clean !-l|--list|-f|--file :: drops tables first (pg_restore --clean)
mysqladmin ~drop :: deletes a whole database (mysqladmin drop)
mariadb-admin ~drop :: deletes a whole database (mariadb-admin drop)
mongorestore --drop !--dryRun :: drops collections first (mongorestore --drop)
mongoimport --drop :: drops a collection first (mongoimport --drop)
rabbitmqctl reset|force_reset|delete_queue|purge_queue|delete_vhost :: {_QUEUES} (rabbitmqctl)
rabbitmqadmin ~delete|purge :: {_QUEUES} (rabbitmqadmin)
kafka-topics --delete :: {_QUEUES} (kafka-topics --delete)
kafka-topics.sh = kafka-topics
kafka-delete-records :: {_QUEUES} (kafka-delete-records)
kafka-delete-records.sh = kafka-delete-records
kafka-consumer-groups --delete :: {_QUEUES} (kafka-consumer-groups --delete)
kafka-consumer-groups.sh = kafka-consumer-groups
rpk topic|group delete|delete-records|trim-prefix :: {_QUEUES} (rpk)
nats stream|str|kv|consumer|object rm|del|purge|delete|remove :: {_QUEUES} (nats)
etcdctl del :: deletes keys (etcdctl del)
consul kv delete :: deletes keys (consul kv delete)
vault kv|secrets|auth|policy|token|namespace delete|destroy|disable|revoke :: deletes secrets
vault kv metadata delete :: deletes secrets (vault kv metadata delete)
vault delete :: deletes secrets (vault delete)
influx ~delete :: deletes measurements (influx delete)
curator_cli ~delete-indices|delete_indices !--dry-run :: deletes indices (curator)
nodetool ~decommission|removenode|clearsnapshot|assassinate :: deletes a node's data
neo4j-admin database delete|load :: deletes a whole database (neo4j-admin)
sqlite-utils drop-table|drop-view :: drops data from a database (sqlite-utils)
mc rm|rb|undo :: deletes stored files (mc rm)
mc mirror --remove !--fake|--dry-run :: deletes stored files (mc mirror --remove)
"""

_SQL_OPTIONS = options_table("""
psql pgcli usql ysqlsh: -c --command
mysql mariadb: -e --execute --init-command
mycli litecli cockroach cqlsh: -e --execute
sqlite3: -cmd
duckdb: -c -s -cmd
sqlcmd osql: -Q -q
sqlplus:
clickhouse-client clickhouse chc snowsql impala-shell: -q --query
trino presto: --execute
hive beeline spark-sql: -e
wrangler: --command
influx: -execute --execute
""")
_OPERAND_SQL = listed("sqlite3 duckdb sqlite-utils bq db2 turso litecli isql spanner-cli")
"""Programs that are given SQL as an operand."""

_SHELL_ESCAPES = re.compile(r"^\s*(?:\\!|\.shell|\.system|system)\s+(.+)$", re.MULTILINE)
_SQLITE_DOTS = re.compile(r"^\s*\.(?:restore|import\s+--replace)\b", re.MULTILINE)
_READ_ONLY = ("-readonly", "--readonly")


def shell(command: Simple, arguments: Arguments) -> str:
    """A database's shell: what it is told to run."""
    texts = [word.text for word in _given(command)]
    if command.program in _OPERAND_SQL:
        texts += [word.text for word in arguments.operands]
    if command.input is not None:
        texts.append(command.input)
    if any(name in arguments.options for name in _READ_ONLY):
        return ""
    if arguments.has("--dry_run", "--dry-run"):
        return ""
    for text in texts:
        if why := sql.judge(text):
            return why
        if command.program == "sqlite3" and _SQLITE_DOTS.search(text):
            return "overwrites a database (.restore)"
    return ""


def _given(command: Simple) -> list[Word]:
    options = _SQL_OPTIONS.get(command.program, ())
    single = command.program in ("sqlite3", "duckdb", "influx")
    return Arguments(command.words[1:], options, single=single).values(*options)


def escapes(text: str) -> list[str]:
    """Lines that a database's shell gives to a shell of the system."""
    return _SHELL_ESCAPES.findall(text[: sql.LONGEST])


_REDIS = listed("flushall flushdb del unlink hdel getdel zremrangebyrank")
_REDIS_PAIRS = {("script", "flush"), ("function", "flush"), ("cluster", "reset")}
_REDIS_PAIRS |= {("cluster", "flushslots"), ("shutdown", "nosave"), ("acl", "deluser")}
_REDIS_PAIRS |= {("function", "delete"), ("xgroup", "destroy")}


def redis(command: Simple, arguments: Arguments) -> str:
    lines = [[word.text.lower() for word in arguments.operands]]
    if command.input:
        lines += [line.lower().split() for line in command.input.splitlines()[:1000]]
    for words in lines:
        if words[:1] and words[0] in _REDIS:
            return f"deletes keys (redis {words[0].upper()})"
        if tuple(words[:2]) in _REDIS_PAIRS:
            return f"deletes keys (redis {' '.join(words[:2]).upper()})"
    script = arguments.value("--eval")
    return "deletes keys (redis)" if re.search(r"flush(all|db)|'del'", script, re.I) else ""


_MONGO = re.compile(
    r"\.\s*(dropDatabase|drop|dropIndex(?:es)?|dropAllUsers|dropUser|deleteMany|deleteOne|remove"
    r"|findOneAndDelete|findAndModify|bulkWrite|dropRole|renameCollection)\s*\(|\bdropDatabase\b"
)
_MONGO_ALL = re.compile(r"\.\s*updateMany\s*\(\s*\{\s*\}|\$out\b|replSetReconfig")


def mongo(command: Simple, arguments: Arguments) -> str:
    texts = [word.text for word in arguments.values("--eval", "-e")]
    texts += [command.input] if command.input else []
    for text in texts:
        if (found := _MONGO.search(text)) or (found := _MONGO_ALL.search(text)):
            return f"deletes or replaces documents ({found.group().strip(' .(')})"
    return ""


CHECKS = dict.fromkeys([*_SQL_OPTIONS, *_OPERAND_SQL], shell)
CHECKS |= dict.fromkeys(("redis-cli", "valkey-cli", "keydb-cli", "iredis"), redis)
CHECKS |= dict.fromkeys(("mongosh", "mongo"), mongo)
