-- The log with the indexes that Sillok keeps: by position, (origin, seq), id, and by user and conversation in display
-- order. Names are numbers here from the start, which is the cheaper form for PostgreSQL; payloads are not checked.
CREATE TABLE event(
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  origin smallint NOT NULL, seq bigint NOT NULL, hlc bigint NOT NULL, time bigint NOT NULL,
  id uuid NOT NULL, type smallint NOT NULL, "user" integer NOT NULL, conversation integer NOT NULL,
  payload text NOT NULL
);
CREATE UNIQUE INDEX event_dot ON event(origin, seq);
CREATE UNIQUE INDEX event_id ON event(id);
CREATE INDEX event_user ON event("user", time, position);
CREATE INDEX event_conversation ON event(conversation, time, position);
