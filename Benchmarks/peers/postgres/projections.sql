-- The views that Sillok keeps of these events, written in the transaction that appends them. Histories take the place of the
-- indexes by user and conversation; participants are counted from the timeline when they are asked for.
DROP INDEX event_user;
DROP INDEX event_conversation;
CREATE TABLE history(
  "user" integer, time bigint, hlc bigint, position bigint, PRIMARY KEY("user", time, hlc, position));
CREATE TABLE timeline(
  conversation integer, time bigint, hlc bigint, position bigint, speaker integer,
  PRIMARY KEY(conversation, time, hlc, position));
CREATE TABLE conversation(
  conversation integer PRIMARY KEY, events bigint NOT NULL, messages bigint NOT NULL,
  first_time bigint NOT NULL, last_time bigint NOT NULL);
CREATE INDEX conversation_recent ON conversation(last_time, conversation);
CREATE TABLE message(
  message uuid PRIMARY KEY, edits bigint NOT NULL, edit_position bigint, text text, retracted bigint);
