// What is loaded at a click: its sentences join those of the first look, its style is there first.
import { style } from '../shared/dom.mjs';
import { strings } from './strings.mjs';

Object.assign(strings, {
  close: ['닫기', 'Close'],

  // Coming and going
  token: ['토큰', 'Token'],
  tokenHelp: ['서비스가 준 토큰(JWT 포함)입니다. 쿠키로 바뀌고, 어떤 스크립트도 읽지 못합니다.', 'A token (or JWT) that your service gave you. It becomes a cookie that no script can read.'],
  wrongToken: ['통하지 않는 토큰입니다.', 'This token does not count.'],
  mine: ['내 자료', 'My data'],
  logout: ['나가기', 'Log out'],
  signedInAs: [(who) => `사용자: ${who}`, (who) => `Logged in as ${who}`],
  'look.auto': ['밝기: 자동', 'Appearance: auto'],
  'look.light': ['밝기: 밝게', 'Appearance: light'],
  'look.dark': ['밝기: 어둡게', 'Appearance: dark'],

  // States
  eraseHelp: ['여기서는 아무것도 지워지지 않습니다. 지우려면 운영자에게 요청하세요. 쓴 사람, 때, id와 나간 사본은 남습니다.', 'Nothing is erased here: ask the operator. Who wrote when, ids, and copies given out stay.'],

  // Rooms
  hideAsk: ['이 대화를 내 목록에서 숨길까요?', 'Hide this conversation from your list?'],
  hideHelp: ['내 목록에서만 사라집니다. 글은 남고, 다른 사람에게는 그대로 보입니다. 새 글이 와도 다시 나타나지 않습니다.', 'It goes from your list alone. Messages stay, and others see them as before. New ones do not bring it back.'],
  hidden: ['대화를 숨겼습니다.', 'The conversation is hidden.'],
  unhideAsk: ['이 대화를 내 목록에 다시 넣을까요?', 'Show this conversation in your list again?'],
  unhidden: ['대화가 목록에 다시 보입니다.', 'The conversation is in the list again.'],

  // Writing
  recording: ['녹음 중', 'Recording'],
  uploading: [(name) => `올리는 중: ${name}`, (name) => `Uploading ${name}`],
  uploaded: [(name) => `올림: ${name}`, (name) => `Uploaded ${name}`],
  notUploaded: ['올리지 못했습니다.', 'It could not be uploaded.'],
  tooLarge: ['너무 큰 파일입니다.', 'The file is too large.'],
  notTaken: [(code) => `받지 않는 파일입니다 (${code}).`, (code) => `Such files are not taken (${code}).`],
  alt: ['사진 설명 (선택)', 'Describe the picture (optional)'],
  altOf: [(name) => `사진 설명: ${name}`, (name) => `Description of ${name}`],
  remove: [(name) => `빼기: ${name}`, (name) => `Remove ${name}`],
  level: ['소리 크기', 'Level'],
  stop: ['끝내기', 'Stop'],
  voiceName: ['음성', 'voice'],
  noMicrophone: ['마이크를 쓸 수 없습니다.', 'The microphone cannot be used.'],
  takeBackAsk: ['글을 거둬들일까요?', 'Take this message back?'],
  takeBackHelp: ['다른 사람에게 더는 보이지 않습니다. 거둬들인 사실은 기록에 남습니다.', 'Others do not see it any more. The record keeps that it was taken back.'],

  // Search
  hit: [(q, at, n) => `“${q}” ${n}건 중 ${at}번째`, (q, at, n) => `“${q}” ${at} of ${n}`],
  searchWords: ['이전 대화를 검색하세요', 'Search earlier messages'],
  searchNow: ['찾기', 'Find'],
  onlyHere: [(name) => `이 대화에서만: ${name}`, (name) => `Only in ${name}`],
  found: [(n, more) => more ? `${n}건까지 보임, 더 있음` : `모두 ${n}건`, (n, more) => more ? `${n} so far, there are more` : `${n} in all`],
  nothingFound: ['찾은 글이 없습니다.', 'Nothing was found.'],
  previousHit: ['이전 결과', 'Previous result'],
  nextHit: ['다음 결과', 'Next result'],
  allHits: ['모든 결과', 'All results'],
  recent: ['최근 검색', 'Recent searches'],
  noRecent: ['검색 내역이 없습니다.', 'There are no recent searches.'],
  forget: [(words) => `지우기: ${words}`, (words) => `Forget ${words}`],

  // People
  talk: ['대화하기', 'Talk'],
  contacts: ['연락처', 'Contacts'],
  user: ['상대의 사용자 id', 'User id of the other'],
  contactName: ['이름 (연락처에 저장할 때)', 'Name (to keep as a contact)'],
  keep: ['연락처에 저장', 'Keep as a contact'],
  kept: [(who) => `저장함: ${who}`, (who) => `Kept ${who}`],
  removed: [(who) => `연락처에서 뺌: ${who}`, (who) => `Removed ${who}`],
  removeContact: [(who) => `연락처에서 빼기: ${who}`, (who) => `Remove ${who} from contacts`],
  filter: ['이름의 첫 부분', 'Beginning of a name'],
  noContacts: ['저장한 연락처가 없습니다.', 'There are no contacts.'],
  noSuchContact: ['이렇게 시작하는 이름이 없습니다.', 'No name begins so.'],
});

await Promise.all(['../shared/sheet.css', 'seldom.css'].map(style));
