"""Frameworks and migration tools: what empties the database behind them."""

_DATABASE = "deletes a whole database"
_TABLES = "deletes all tables of a database"
_RESET = "empties a database"

_RAILS = f"""
    @db:drop*|db:reset*|db:purge*|db:truncate_all* :: {_RESET} (rails db:drop)
    @db:schema:load*|db:structure:load*|db:migrate:reset* :: {_RESET} (rails db:schema:load)
    destroy :: deletes generated files (rails destroy)
"""
_ARTISAN = f"@migrate:fresh|migrate:refresh|migrate:reset|db:wipe !--pretend :: {_RESET} (artisan)"
_DOCTRINE = f"""
    @doctrine:database:drop|doctrine:schema:drop|d:d:d|d:s:d !--dump-sql :: {_RESET} (doctrine)
    @doctrine:fixtures:load|d:f:l !--append :: {_RESET} (doctrine)
"""
_SEQUELIZE = f"""
    @db:drop* :: {_DATABASE} (sequelize db:drop)
    @db:migrate:undo:all :: {_TABLES} (sequelize db:migrate:undo:all)
"""

TABLE = {
    "manage.py": f"""
        flush|reset_db|sqlclear :: {_RESET} (manage.py flush)
        migrate * zero !--plan :: {_TABLES} (manage.py migrate zero)
        delete_stale_contenttypes|remove_stale_contenttypes|clear_cache :: deletes rows (manage.py)
    """,
    "django-admin": f"flush|reset_db :: {_RESET} (django-admin flush)",
    "rails": _RAILS,
    "rake": _RAILS,
    "artisan": _ARTISAN,
    "sail": _ARTISAN,
    "console": _DOCTRINE,
    "symfony": _DOCTRINE,
    "doctrine": f"@orm:schema-tool:drop :: {_RESET} (doctrine)",
    "prisma": f"""
        migrate reset :: {_DATABASE} (prisma migrate reset)
        db push --force-reset|--accept-data-loss :: {_RESET} (prisma db push --force-reset)
    """,
    "sequelize": _SEQUELIZE,
    "sequelize-cli": _SEQUELIZE,
    "knex": f"~migrate:rollback --all :: {_TABLES} (knex migrate:rollback --all)",
    "typeorm": f"~schema:drop :: {_TABLES} (typeorm schema:drop)",
    "mikro-orm": f"@schema:drop*|*:fresh|database:drop :: {_TABLES} (mikro-orm)",
    "drizzle-kit": "push --force :: may drop columns (drizzle-kit push --force)",
    "mix": f"@ecto.drop|ecto.reset :: {_DATABASE} (mix ecto.drop)",
    "dotnet": f"ef database drop !--dry-run :: {_DATABASE} (dotnet ef database drop)",
    "dotnet-ef": f"database drop !--dry-run :: {_DATABASE} (dotnet ef database drop)",
    "wp": f"""
        db reset|drop|clean :: {_DATABASE} (wp db reset)
        site empty|delete :: {_RESET} (wp site empty)
        post|user|comment|term|option|menu delete :: deletes content (wp delete)
    """,
    "drush": f"@sql-drop|sql:drop|site-install|site:install|si :: {_RESET} (drush)",
    "flyway": f"~clean :: {_TABLES} (flyway clean)",
    "liquibase": f"~drop-all|dropAll :: {_TABLES} (liquibase drop-all)",
    "dbmate": f"~drop :: {_DATABASE} (dbmate drop)",
    "migrate": f"""
        ~drop :: {_TABLES} (migrate drop)
        ~down -a|-all|--all :: {_TABLES} (migrate down -all)
    """,
    "goose": f"~reset|down-to :: {_TABLES} (goose reset)",
    "sqlx": f"database|db drop|reset :: {_DATABASE} (sqlx database drop)",
    "diesel": f"database|db reset|drop :: {_DATABASE} (diesel database reset)",
    "sea-orm-cli": f"migrate fresh|refresh|reset :: {_TABLES} (sea-orm-cli migrate fresh)",
    "alembic": f"downgrade base !--sql :: {_TABLES} (alembic downgrade base)",
    "flask": f"""
        db downgrade base !--sql :: {_TABLES} (flask db downgrade base)
        ~drop-db|drop_db|reset-db|init-db :: {_RESET} (flask)
    """,
    "atlas": f"schema clean !--dry-run :: {_TABLES} (atlas schema clean)",
    "supabase": f"""
        db reset :: {_DATABASE} (supabase db reset)
        projects|branches|functions|secrets|storage delete|rm|unset :: deletes it (supabase)
    """,
    "meteor": f"reset :: {_DATABASE} (meteor reset)",
    "encore": f"db reset :: {_DATABASE} (encore db reset)",
    "hasura": "metadata clear :: deletes metadata (hasura metadata clear)",
    "airflow": f"db reset|clean :: {_RESET} (airflow db reset)",
    "ddev": "delete|clean :: deletes a project (ddev delete)",
    "lando": "destroy :: deletes a project (lando destroy)",
}
