/// Everything that the API does, by the names that its OpenAPI document gives it (`operationId`).
package enum Operation: String, CaseIterable, Sendable {
    // The log and its views.
    case appendEvents, listEvents, getEvent, getWhy, followChanges
    case listConversations, getConversation, listRows, tellLive
    case getProof, listProofs
    // Lists of users.
    case listParticipants, listRooms, openDirect, listContacts, putContact, deleteContact
    case listSearches, putSearch, deleteSearch
    case getProfile, listHistory, listSurveys, getSurvey, search, listUsers, listFollowers
    case putAttachment, listAttachments, getAttachment
    // Subscriptions.
    case listSubscriptions, putSubscription, getSubscription, deleteSubscription
    case streamDeliveries, pullDeliveries, ackDeliveries, releaseDeliveries, extendDeliveries, parkDeliveries
    case listParked, retryParked, moveSubscription, changeSubscription, seekSubscription
    // Who asks, and what they may.
    case getMe, listCredentials, createCredential, revokeCredential, listAccess, listReaders
    case openSession, closeSession, recordPackage
    // The node and its peers.
    case getStatus, getReceipt, listPeers, addPeer, removePeer, pausePeer, resumePeer, pingPeer
    case waitForNodes, settleFinding, createInvitation, joinPeer, retryQuarantine, listQuarantine, listForks
    case listErasures, createErasure, eraseOwn, verifyLog
    case getOpenAPI
}
