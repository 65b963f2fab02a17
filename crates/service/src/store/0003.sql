-- What each party says of itself, signed: the last statement that was heard of it.
ALTER TABLE peers ADD COLUMN statement TEXT;
-- Keys have the states pending, active and expired.
UPDATE party_keys SET state = 'expired' WHERE state = 'old';
