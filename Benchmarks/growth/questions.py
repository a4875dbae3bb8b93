"""What is asked. Each answer has the same number of rows at every size, so its cost should be the same, too."""

from growth.data import EPOCH, rfc3339

ROWS = 'SELECT time, type, author, conversation, payload FROM event WHERE'


class Question:
    def __init__(self, name, words, path, sql, rows=50):
        self.name, self.words, self.path, self.sql, self.rows = name, words, path, sql, rows


def questions(count):
    """Those of a store of `count` events: words for syncctl, a path of the API (`None`: not asked there), SQL."""
    middle, after = EPOCH + count * 500, EPOCH + count * 500 + 3_600_000
    hour = [rfc3339(middle), rfc3339(after)]
    newest = "ORDER BY time DESC, position DESC LIMIT"

    def of(owner, name):
        return f"{ROWS} {owner} = '{name}'"

    return [
        Question("start of a process", ["--version"], None, "SELECT 1", 0),
        Question("history, last 50", ["history", "u-00500", "--last", "50"], "/v1/users/u-00500/history?limit=50",
                 f"""{of('"user"', 'u-00500')} {newest} 50"""),
        Question("history of the heaviest, last 50", ["history", "u-heavy", "--last", "50"],
                 "/v1/users/u-heavy/history?limit=50", f"""{of('"user"', 'u-heavy')} {newest} 50"""),
        Question("history, an hour in the middle, 50", ["history", "u-heavy", "--since", hour[0], "--until", hour[1], "--first", "50"],
                 f"/v1/users/u-heavy/history?limit=50&order=oldest&since={hour[0]}&until={hour[1]}",
                 f"""{of('"user"', 'u-heavy')} AND time >= {middle} AND time < {after} ORDER BY time, position LIMIT 50"""),
        Question("history, a type that occurs 50 times", ["history", "u-heavy", "--type", "profile.changed", "--last", "50"],
                 "/v1/users/u-heavy/history?limit=50&type=profile.changed",
                 f"""{of('"user"', 'u-heavy')} AND type = 'profile.changed' {newest} 50"""),
        Question("history, an author of 50", ["history", "u-heavy", "--author", "bot-rare", "--last", "50"],
                 "/v1/users/u-heavy/history?limit=50&author=bot-rare",
                 f"""{of('"user"', 'u-heavy')} AND author = 'bot-rare' {newest} 50"""),
        Question("history, in the big conversation", ["history", "u-heavy", "--conversation", "c-big", "--last", "50"],
                 "/v1/users/u-heavy/history?limit=50&conversation=c-big",
                 f"""{of('"user"', 'u-heavy')} AND conversation = 'c-big' {newest} 50"""),
        Question("the big conversation, last 50", ["conversation", "c-big", "--last", "50"], "/v1/conversations/c-big/rows?limit=50",
                 f"{of('conversation', 'c-big')} {newest} 50"),
        Question("a small conversation", ["conversation", "c-fifty", "--last", "50"], "/v1/conversations/c-fifty/rows?limit=50",
                 f"{of('conversation', 'c-fifty')} {newest} 50"),
        Question("conversations, newest 50", ["conversations", "--last", "50"], "/v1/conversations?limit=50", None),
        Question("rooms of the heaviest, newest 50", ["rooms", "u-heavy", "--last", "50"], "/v1/users/u-heavy/conversations?limit=50", None),
        Question("digest", ["digest"], None, None, 1),
        Question("profile", ["profile", "u-heavy"], "/v1/users/u-heavy", None, 1),
        Question("survey", ["survey", "s"], "/v1/surveys/s", None, 1),
        Question("tail of a user of 50, last 10", ["tail", "-n", "10", "-u", "u-fifty"], None,
                 f"""{of('"user"', 'u-fifty')} ORDER BY position DESC LIMIT 10""", 10),
        Question("tail of no one", ["tail", "-n", "10", "-u", "u-nobody"], None,
                 f"""{of('"user"', 'u-nobody')} ORDER BY position DESC LIMIT 10""", 0),
        Question("replay of a user of 50", ["replay", "--user", "u-fifty"], None,
                 f"""{of('"user"', 'u-fifty')} ORDER BY time, position"""),
        Question("replay of a conversation of 50", ["replay", "--conversation", "c-fifty"], None,
                 f"{of('conversation', 'c-fifty')} ORDER BY time, position"),
        Question("replay of it, known at the middle", ["replay", "--user", "u-fifty", "--known-at", str(count // 2)], None,
                 f"""{of('"user"', 'u-fifty')} AND position <= {count // 2} ORDER BY time, position""", 25),
        Question("export of a user of 50", ["export", "--user", "u-fifty"], None,
                 f"""{of('"user"', 'u-fifty')} ORDER BY position"""),
    ]
