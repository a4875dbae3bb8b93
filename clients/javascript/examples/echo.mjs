// An echo bot: node clients/javascript/examples/echo.mjs [unix:/run/syncd/api.sock]
import { Sillok } from "../sillok.mjs"

const bot = new Sillok(process.argv[2])
for await (const d of bot.work("echo", { start: "now", type: "message.posted" }))
  await bot.reply(d, { text: `메아리: ${d.data.text ?? ""}` })
