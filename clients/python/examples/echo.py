"""An echo bot: PYTHONPATH=clients/python python3 clients/python/examples/echo.py [unix:/run/syncd/api.sock]"""
import sys

from sillok import Sillok

bot = Sillok(*sys.argv[1:])
for d in bot.work("echo", start="now", type="message.posted"):
    bot.reply(d, text=f"메아리: {d.data.get('text', '')}")
