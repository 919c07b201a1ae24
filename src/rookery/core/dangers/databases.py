"""Databases: their shells, which are given SQL or commands of their own, the tools beside them, and
the frameworks and migration tools that empty them."""

import re

from rookery.core.command_line.arguments import Arguments
from rookery.core.command_line.words import Simple, Word, listed, options_table
from rookery.core.dangers import sql

_QUEUES = "deletes messages or queues"
_DATABASE = "deletes a whole database"
_TABLES = "deletes all tables of a database"
_RESET = "empties a database"

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
manage.py flush|reset_db|sqlclear :: {_RESET} (manage.py flush)
manage.py migrate * zero !--plan :: {_TABLES} (manage.py migrate zero)
manage.py delete_stale_contenttypes|remove_stale_contenttypes|clear_cache :: deletes rows
django-admin flush|reset_db :: {_RESET} (django-admin flush)
rails @db:drop*|db:reset*|db:purge*|db:truncate_all* :: {_RESET} (rails db:drop)
rails @db:schema:load*|db:structure:load*|db:migrate:reset* :: {_RESET} (rails db:schema:load)
rails destroy :: deletes generated files (rails destroy)
rake = rails
artisan @migrate:fresh|migrate:refresh|migrate:reset|db:wipe !--pretend :: {_RESET} (artisan)
sail = artisan
console @doctrine:database:drop|doctrine:schema:drop|d:d:d|d:s:d !--dump-sql :: {_RESET} (doctrine)
console @doctrine:fixtures:load|d:f:l !--append :: {_RESET} (doctrine)
symfony = console
doctrine @orm:schema-tool:drop :: {_RESET} (doctrine)
prisma migrate reset :: {_DATABASE} (prisma migrate reset)
prisma db push --force-reset|--accept-data-loss :: {_RESET} (prisma db push --force-reset)
sequelize @db:drop* :: {_DATABASE} (sequelize db:drop)
sequelize @db:migrate:undo:all :: {_TABLES} (sequelize db:migrate:undo:all)
sequelize-cli = sequelize
knex ~migrate:rollback --all :: {_TABLES} (knex migrate:rollback --all)
typeorm ~schema:drop :: {_TABLES} (typeorm schema:drop)
mikro-orm @schema:drop*|*:fresh|database:drop :: {_TABLES} (mikro-orm)
drizzle-kit push --force :: may drop columns (drizzle-kit push --force)
mix @ecto.drop|ecto.reset :: {_DATABASE} (mix ecto.drop)
dotnet ef database drop !--dry-run :: {_DATABASE} (dotnet ef database drop)
dotnet-ef database drop !--dry-run :: {_DATABASE} (dotnet ef database drop)
wp db reset|drop|clean :: {_DATABASE} (wp db reset)
wp site empty|delete :: {_RESET} (wp site empty)
wp post|user|comment|term|option|menu delete :: deletes content (wp delete)
drush @sql-drop|sql:drop|site-install|site:install|si :: {_RESET} (drush)
flyway ~clean :: {_TABLES} (flyway clean)
liquibase ~drop-all|dropAll :: {_TABLES} (liquibase drop-all)
dbmate ~drop :: {_DATABASE} (dbmate drop)
migrate ~drop :: {_TABLES} (migrate drop)
migrate ~down -a|-all|--all :: {_TABLES} (migrate down -all)
goose ~reset|down-to :: {_TABLES} (goose reset)
sqlx database|db drop|reset :: {_DATABASE} (sqlx database drop)
diesel database|db reset|drop :: {_DATABASE} (diesel database reset)
sea-orm-cli migrate fresh|refresh|reset :: {_TABLES} (sea-orm-cli migrate fresh)
alembic downgrade base !--sql :: {_TABLES} (alembic downgrade base)
flask db downgrade base !--sql :: {_TABLES} (flask db downgrade base)
flask ~drop-db|drop_db|reset-db|init-db :: {_RESET} (flask)
atlas schema clean !--dry-run :: {_TABLES} (atlas schema clean)
supabase db reset :: {_DATABASE} (supabase db reset)
supabase projects|branches|functions|secrets|storage delete|rm|unset :: deletes it (supabase)
meteor reset :: {_DATABASE} (meteor reset)
encore db reset :: {_DATABASE} (encore db reset)
hasura metadata clear :: deletes metadata (hasura metadata clear)
airflow db reset|clean :: {_RESET} (airflow db reset)
ddev delete|clean :: deletes a project (ddev delete)
lando destroy :: deletes a project (lando destroy)
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
    """A database's shell: what it is told to run."""
    texts = [word.text for word in _given(command)]
    if command.program in _OPERAND_SQL:
        texts += [word.text for word in arguments.operands]
    if command.input is not None:
        texts.append(command.input)
    read_only = "-readonly" in arguments.options or "--readonly" in arguments.options
    if read_only or arguments.has("--dry_run", "--dry-run"):
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
