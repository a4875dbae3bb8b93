/// What the views make of an event before it is one: who speaks for themselves is told at once what would be shown nowhere.
package enum PayloadForm {
    /// What a `contact.added` says beside whom.
    package static let ofContact = ContactsView.members

    /// Why a view would quarantine it, in a sentence that begins with the member; `nil` if none would.
    package static func refusal(_ draft: EventDraft) -> String? {
        guard let type = EventType(rawValue: draft.type) else { return nil }
        let payload = JSONObject(validated: draft.payload)
        return refusal(type, payload, draft) ?? AttachmentsView.refusal(type, payload)
    }

    private static func refusal(_ type: EventType, _ payload: JSONObject, _ draft: EventDraft) -> String? {
        switch type {
        case .messagePosted, .botReplied: draft.payload.withUnsafeBytes { MessageForm.refusal($0) }
        case .messageEdited, .messageRetracted:
            MessagesView.refusal(payload, isEdit: type == .messageEdited, cause: draft.cause)
        case .messageRead, .conversationHidden, .conversationShown:
            RoomsView.refusal(type, payload, isPlaced: draft.conversation != nil, cause: draft.cause)
        case .conversationStarted, .conversationRenamed, .participantJoined, .participantLeft:
            ConversationsView.refusal(type, payload, isPlaced: draft.conversation != nil)
                ?? ParticipantsView.refusal(type, payload)
        case .surveyAnswered: SurveysView.refusal(SurveysView.Members(payload))
        case .profileChanged: ProfilesView.refusal(payload)
        case .contactAdded, .contactRemoved: ContactsView.refusal(payload, isAdded: type == .contactAdded)
        case .searchRemembered, .searchForgotten:
            RecentSearchesView.refusal(payload, isForgotten: type == .searchForgotten)
        case .botTranscribed: nil
        }
    }
}
