-- A small result is in the store, so that one sync serves it and the row that names it.
CREATE TABLE small_results(blob TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
-- Nothing asks for results by their blob.
DROP INDEX results_by_blob;
-- An attempt has one entry here until its end, whatever its state is.
DROP INDEX attempts_open;
CREATE INDEX attempts_open ON attempts(created) WHERE ended IS NULL;
