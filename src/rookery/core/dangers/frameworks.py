"""Frameworks and migration tools: what empties the database behind them."""

_DATABASE = "deletes a whole database"
_TABLES = "deletes all tables of a database"
_RESET = "empties a database"


TABLE = f"""
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
