#pragma once
#include <sqlite3.h>

/* Macros and variadic functions that Swift does not import. */
static inline sqlite3_destructor_type sillok_sqlite_transient(void) { return SQLITE_TRANSIENT; }
static inline int sillok_sqlite_config_multithread(void) { return sqlite3_config(SQLITE_CONFIG_MULTITHREAD); }
static inline int sillok_sqlite_config_memstatus(int on) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, on); }
/* Pages of a cache are allocated one by one, not also twenty for each connection beforehand. */
static inline int sillok_sqlite_config_no_bulk_cache(void) {
  return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
}
static inline int sillok_sqlite_no_checkpoint_on_close(sqlite3 *db, int on) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on, (int *)0);
}
static inline int sillok_sqlite_untrusted_schema(sqlite3 *db) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
}
static inline int sillok_sqlite_defensive(sqlite3 *db, int on) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, on, (int *)0);
}
/* What a file defines runs nothing: no trigger fires, no view answers. */
static inline void sillok_sqlite_no_stored_code(sqlite3 *db) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
}
