// Every sentence of the page, in Korean and in English.

export const strings = {
  app: ['내 연락처와 자료', 'My contacts and data'],
  chat: ['대화로', 'To the chat'],
  close: ['닫기', 'Close'],
  login: ['들어가기', 'Log in'],
  token: ['토큰', 'Token'],
  tokenHelp: ['대화에 들어갈 때와 같은 토큰입니다.', 'The same token as for the chat.'],
  wrongToken: ['통하지 않는 토큰입니다.', 'This token does not count.'],
  noUser: ['사용자의 토큰이 아닙니다.', 'This token is for no user.'],
  signedInAs: [(who) => `사용자: ${who}`, (who) => `Logged in as ${who}`],
  unreachable: ['노드가 답하지 않습니다.', 'The node does not answer.'],

  // An address book
  book: ['주소록에서 연락처 더하기', 'Contacts from an address book'],
  bookHelp: ['전화기나 메일 서비스에서 내보낸 vCard 파일(.vcf)을 고르세요. 이름과 첫 전화번호만 읽습니다. 더하기 전에는 아무것도 보내지 않습니다.', 'Choose a vCard file (.vcf) that a phone or a mail service gave out. Names and first numbers are read. Nothing is sent before you add them.'],
  file: ['vCard 파일', 'vCard file'],
  device: ['이 기기의 주소록에서 고르기', 'Choose from this device'],
  denied: ['주소록을 읽을 수 있는 권한이 없습니다.', 'There is no permission to read the address book.'],
  noCards: ['이름과 전화번호가 있는 연락처를 찾지 못했습니다.', 'No contact with a name and a number was found.'],
  tooLarge: ['파일이 너무 큽니다.', 'The file is too large.'],
  found: [(n, known) => `연락처 ${n}명. 그 가운데 ${known}명은 이미 있습니다.`, (n, known) => `${n} contacts; ${known} of them are there already.`],
  add: [(n) => `${n}명 더하기`, (n) => `Add ${n}`],
  added: [(n) => `${n}명을 더했습니다.`, (n) => `Added: ${n}.`],

  // All others
  others: ['다른 사용자', 'Other users'],
  othersHelp: ['이 노드는 사용자들이 서로의 id와 이름을 볼 수 있게 합니다.', 'This node lets users see the ids and names of one another.'],
  keep: [(name) => `${name}: 연락처에 더하기`, (name) => `Keep ${name} as a contact`],
  kept: ['연락처에 있음', 'in your contacts'],
  more: ['더 보기', 'More'],
  noOthers: ['이름이 있는 다른 사용자가 없습니다.', 'There is no other user with a name.'],

  // Erasing
  erase: ['내 자료 모두 지우기', 'Erase all that is mine'],
  eraseHelp: ['내 글과 파일, 봇의 답, 프로필, 연락처, 설문 응답을 모든 노드에서 지웁니다. 되찾을 수 없습니다. 쓴 사람, 때, id와 다른 사람의 글, 나간 사본은 남습니다.', 'Erases my messages and files, the replies of bots, profile, contacts and answers on all nodes. It cannot be taken back. Who wrote when, ids, what others said, and copies given out stay.'],
  eraseLook: ['무엇이 지워지는지 보기', 'See what would go'],
  eraseAsk: [(n) => `사건 ${n}건이 지워집니다. 정말 지우려면 내 id를 적으세요.`, (n) => `${n} events would go. To erase them, write your id.`],
  eraseDo: ['모두 지우기', 'Erase all'],
  eraseNone: ['지울 것이 없습니다.', 'There is nothing to erase.'],
  eraseOther: ['내 id와 다릅니다. 아무것도 지우지 않았습니다.', 'That is not your id. Nothing was erased.'],
  eraseDone: ['지우기 시작했습니다. 모든 노드에서 곧 사라집니다.', 'It has begun. It will soon be gone from all nodes.'],
  eraseNot: ['이 노드에서는 운영자가 지웁니다. 운영자에게 요청하세요.', 'At this node operators erase. Ask them.'],
};
