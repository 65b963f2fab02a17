-- What is counted for each job has an index of its own: a history of any length costs the same.
DROP INDEX runs_by_digest;
CREATE INDEX runs_counted ON runs(digest, line, refunded, at);
CREATE INDEX jobs_of_tenant_by_state ON jobs(tenant, state);
