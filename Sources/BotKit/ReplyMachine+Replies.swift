internal import CommandLineKit
internal import EventStore

// What goes into the record: replies, and that there is none.
extension ReplyMachine {
    /// - Parameter sound: The attachment that has it.
    mutating func reply(_ answered: Answered, sound: AttachmentItem?, _ now: UInt64) -> [Effect] {
        guard let dialogue else { return passOver("a message that is not there") }
        let (guarded, completion) = (answered.guarded, answered.completion)
        var lines = ReplyLines(settings, to: dialogue.question)
        let (took, heard, model) = (now - began, heard, model)
        let spoken = spoken(answered)
        lines.add("bot.replied", label: "") { data in
            data.add("text", guarded.text)
            if let heard { data.add("transcript", heard) }
            // What is said in it stands beside it, unless that is less.
            if let sound { data.addAttachment(sound) { if spoken != guarded.text { $0.add("transcript", spoken) } } }
            data.addObject("persona") { persona in
                persona.add("name", settings.name)
                persona.add("version", settings.personaVersion)
                persona.add("sha256", settings.personaDigest(language))
            }
            data.add("model", completion.model ?? model)
            if let usage = completion.usage {
                data.addObject("usage") { object in
                    object.add("prompt_tokens", usage.prompt)
                    object.add("completion_tokens", usage.completion)
                    object.add("total_tokens", usage.total)
                }
            }
            if let finish = completion.finish { data.add("finish", finish) }
            data.add("duration_ms", took)
            data.add("attempt", answered.attempt)
            if !guarded.results.isEmpty {
                data.addArray("guards") { array in
                    for (id, result) in guarded.results {
                        array.addObject { object in
                            object.add("id", id)
                            object.add("result", result.rawValue)
                        }
                    }
                }
            }
        }
        lines.addOffer(at: .reply)
        return store(lines, .replied(milliseconds: took, tokens: completion.usage?.total ?? 0))
    }

    mutating func store(_ lines: ReplyLines, _ note: Note) -> [Effect] {
        state = .storing
        said = note
        self.lines = lines
        return [.append(lines.bytes)]
    }

    /// Someone else's event is where this would be stored. All workers of the bot find the same one, and go on to the same id.
    mutating func storeElsewhere() -> [Effect] {
        guard lines?.next() == true, let lines else {
            return end([.note(.taken), .park(reason: "events of others have all ids that the reply could have")])
        }
        return [.note(.taken), state == .recording ? .record(lines.bytes) : .append(lines.bytes)]
    }

    mutating func fail(_ fault: ModelFault) -> [Effect] {
        guard let dialogue else { return passOver("a message that is not there") }
        let (attempts, step) = (asked, work.step)
        // A message that fails again, after a retry was asked for, fails in an event of its own.
        let isRetry = delivery.event.id != dialogue.question.id
        var lines = ReplyLines(settings, to: dialogue.question)
        lines.add("bot.failed", label: isRetry ? "failed \(delivery.event.id)" : "failed") { data in
            data.add("inReplyTo", dialogue.question.id.description)
            data.add("code", fault.code.rawValue)
            if let status = fault.status { data.add("status", status) }
            data.add("reason", fault.reason)
            data.add("step", step)
            data.add("attempt", attempts)
            data.add("final", true)
        }
        return store(lines, .failed(fault, attempts: attempts))
    }

    /// Answers without a model.
    mutating func say(_ text: String, _ kind: String, _ rule: String?, closing: Bool) -> [Effect] {
        guard let dialogue else { return passOver("a message that is not there") }
        var lines = ReplyLines(settings, to: dialogue.question)
        let heard = heard
        lines.add("bot.replied", label: "") { data in
            data.add("text", text)
            if let heard { data.add("transcript", heard) }
            if let rule { data.add(kind, rule) } else { data.add(kind, true) }
            data.addPersona(settings)
        }
        if closing {
            if dialogue.question.conversation != nil {
                lines.add("conversation.closed", label: "closed") { $0.add("reason", "farewell") }
            }
            lines.addOffer(at: .close)
        }
        return store(lines, .saidWithoutModel(kind))
    }
}
