"""Irreversible actions on databases: in their shells, by the SQL or commands that these are given,
in the tools beside them, and in the frameworks and migration tools that empty them."""

import re

from rookery.core.command_line.arguments import Arguments
from rookery.core.command_line.syntax import Simple, Word, listed, options_table
from rookery.core.dangers import sql
from rookery.core.dangers.places import named

TABLE = """
deletes a whole database: dropdb; pg_dropcluster #1; mysqladmin ~drop (mysqladmin drop);
    mariadb-admin ~drop (mariadb-admin drop); neo4j-admin database delete|load (neo4j-admin);
    prisma migrate reset; sequelize @db:drop* (sequelize db:drop);
    mix @ecto.drop|ecto.reset (mix ecto.drop); dotnet ef database drop !--dry-run;
    dotnet-ef database drop !--dry-run (dotnet ef database drop); wp db reset|drop|clean;
    dbmate ~drop (dbmate drop); sqlx database|db drop|reset; diesel database|db reset|drop;
    supabase db reset; meteor reset; encore db reset
deletes a database user: dropuser
may lose transactions: pg_resetwal #1 !-n|--dry-run
drops tables first: pg_restore -c|--clean !-l|--list|-f|--file (pg_restore --clean)
drops collections first: mongorestore --drop !--dryRun
drops a collection first: mongoimport --drop
deletes messages or queues:
    rabbitmqctl reset|force_reset|delete_queue|purge_queue|delete_vhost (rabbitmqctl);
    rabbitmqadmin ~delete|purge; kafka-topics --delete; kafka-delete-records;
    kafka-consumer-groups --delete; rpk topic|group delete|delete-records|trim-prefix (rpk);
    nats stream|str|kv|consumer|object rm|del|purge|delete|remove (nats)
deletes keys: etcdctl del; consul kv delete
deletes secrets: vault kv|secrets|auth|policy|token|namespace delete|destroy|disable|revoke ();
    vault kv metadata delete; vault delete
deletes measurements: influx ~delete (influx delete)
deletes indices: curator_cli ~delete-indices|delete_indices !--dry-run (curator)
deletes a node's data: nodetool ~decommission|removenode|clearsnapshot|assassinate ()
drops data from a database: sqlite-utils drop-table|drop-view (sqlite-utils)
deletes stored files: mc rm|rb|undo; mc mirror --remove !--fake|--dry-run
empties a database: manage.py flush|reset_db|sqlclear; django-admin flush|reset_db;
    rails @db:drop*|db:reset*|db:purge*|db:truncate_all* (rails db:drop);
    rails @db:schema:load*|db:structure:load*|db:migrate:reset* (rails db:schema:load);
    artisan @migrate:fresh|migrate:refresh|migrate:reset|db:wipe !--pretend;
    console @doctrine:database:drop|doctrine:schema:drop|d:d:d|d:s:d !--dump-sql (doctrine);
    console @doctrine:fixtures:load|d:f:l !--append (doctrine); doctrine @orm:schema-tool:drop;
    prisma db push --force-reset|--accept-data-loss; wp site empty|delete;
    drush @sql-drop|sql:drop|site-install|site:install|si; airflow db reset|clean
deletes all tables of a database: manage.py migrate * zero !--plan (manage.py migrate zero);
    sequelize @db:migrate:undo:all (sequelize db:migrate:undo:all);
    knex ~migrate:rollback --all (knex migrate:rollback --all);
    typeorm ~schema:drop (typeorm schema:drop); mikro-orm @schema:drop*|*:fresh|database:drop;
    flyway ~clean (flyway clean); liquibase ~drop-all|dropAll (liquibase drop-all);
    migrate ~drop (migrate drop); migrate ~down -a|-all|--all (migrate down -all);
    goose ~reset|down-to (goose reset); sea-orm-cli migrate fresh|refresh|reset;
    alembic downgrade base !--sql; flask db downgrade base !--sql; atlas schema clean !--dry-run
deletes rows: manage.py delete_stale_contenttypes|remove_stale_contenttypes|clear_cache ()
deletes generated files: rails destroy
may drop columns: drizzle-kit push --force
deletes content: wp post|user|comment|term|option|menu delete (wp delete)
empties a database: flask ~drop-db|drop_db|reset-db|init-db
deletes it: supabase projects|branches|functions|secrets|storage delete|rm|unset (supabase)
deletes metadata: hasura metadata clear
deletes a project: ddev delete|clean; lando destroy
as kafka-topics: kafka-topics.sh
as kafka-delete-records: kafka-delete-records.sh
as kafka-consumer-groups: kafka-consumer-groups.sh
as rails: rake
as artisan: sail
as console: symfony
as sequelize: sequelize-cli
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

_SQLITE_DOTS = re.compile(r"^\s*\.(?:restore|import\s+--replace)\b", re.MULTILINE)


def shell(command: Simple, arguments: Arguments) -> str:
    """Judge what a database's shell is told to run."""
    texts = [word.text for word in _given(command)]
    if command.program in _OPERAND_SQL:
        texts += [word.text for word in arguments.operands]
    if command.input is not None:
        texts.append(command.input)
    read_only = "-readonly" in arguments.options or "--readonly" in arguments.options
    if read_only or arguments.has("--dry_run", "--dry-run"):
        return ""
    whys = [sql.judge(text) for text in texts]
    if command.program == "sqlite3" and any(map(_SQLITE_DOTS.search, texts)):
        whys.append("overwrites a database (.restore)")
    return named(whys)


def _given(command: Simple) -> list[Word]:
    options = _SQL_OPTIONS.get(command.program, ())
    single = command.program in ("sqlite3", "duckdb", "influx")
    return Arguments(command.tokens[1:], options, single=single).values(*options)


_REDIS = listed("flushall flushdb del unlink hdel getdel zremrangebyrank")
_REDIS_PAIRS = {("script", "flush"), ("function", "flush"), ("cluster", "reset")}
_REDIS_PAIRS |= {("cluster", "flushslots"), ("shutdown", "nosave"), ("acl", "deluser")}
_REDIS_PAIRS |= {("function", "delete"), ("xgroup", "destroy")}


def redis(command: Simple, arguments: Arguments) -> str:
    lines = [[word.text.lower() for word in arguments.operands]]
    if command.input:
        lines += [line.lower().split() for line in command.input.splitlines()[:1000]]
    for tokens in lines:
        if tokens[:1] and tokens[0] in _REDIS:
            return f"deletes keys (redis {tokens[0].upper()})"
        if tuple(tokens[:2]) in _REDIS_PAIRS:
            return f"deletes keys (redis {' '.join(tokens[:2]).upper()})"
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
        if (match := _MONGO.search(text)) or (match := _MONGO_ALL.search(text)):
            return f"deletes or replaces documents ({match.group().strip(' .(')})"
    return ""


CHECKS = dict.fromkeys([*_SQL_OPTIONS, *_OPERAND_SQL], shell)
CHECKS |= dict.fromkeys(("redis-cli", "valkey-cli", "keydb-cli", "iredis"), redis)
CHECKS |= dict.fromkeys(("mongosh", "mongo"), mongo)
