// Address books as they come from phones, mail services and strangers (S2-5).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cards, contact } from '../../Sources/CPages/files/mine/vcard.mjs';

const card = (...lines) => ['BEGIN:VCARD', ...lines, 'END:VCARD'].join('\r\n') + '\r\n';

test('of each card the name and the first number, whatever the version', () => {
  const text = card('VERSION:3.0', 'N:김;하늘;;;', 'FN:김하늘', 'TEL;TYPE=CELL:010-1234-5678', 'TEL;TYPE=HOME:02-123-4567')
    + card('VERSION:4.0', 'FN:Ann\\, Jr.', 'item1.TEL;VALUE=uri;PREF=1;TYPE="voice,cell":tel:+82-10-9876-5432')
    + card('VERSION:2.1', 'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=EC=9D=B4;=EC=84=9C=EC=A4=80;;;', 'TEL;CELL:01055556666')
    + card('VERSION:3.0', 'N:Lee;Jun;;;', 'TEL:+1 (555) 010-9999 ext. 12');
  assert.deepEqual(cards(text), [
    { contact: 'tel:01012345678', name: '김하늘', phoneNumber: '010-1234-5678' },
    { contact: 'tel:+821098765432', name: 'Ann, Jr.', phoneNumber: '+82-10-9876-5432' },
    { contact: 'tel:01055556666', name: '이서준', phoneNumber: '01055556666' },
    { contact: 'tel:+15550109999', name: 'Jun Lee', phoneNumber: '+1 (555) 010-9999 ext. 12' },
  ]);
});

test('folded lines are put together, and a number is there once', () => {
  const folded = 'BEGIN:VCARD\nFN:Kim\n  Ha\n neul\nTEL:010-\n 1111-2222\nEND:VCARD\n';
  const soft = card('FN;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:=EA=B9=80=', '=ED=95=98=EB=8A=98', 'TEL:3333');
  assert.deepEqual(cards('\ufeff' + folded + folded + soft).map((one) => [one.name, one.contact]), [['Kim Haneul', 'tel:01011112222'], ['김하늘', 'tel:3333']]);
});

test('what is no card, or has no name or no number, is passed over; nothing of a stranger makes it fail', () => {
  for (const text of ['', 'hello', card('FN:Nobody'), card('TEL:010-1234-5678'), card('FN:X', 'TEL:x'), card('FN: ', 'TEL:12345'), 'FN:out\nTEL:12345\n', card('FN:X', 'TEL:12'),
    card('FN;ENCODING=QUOTED-PRINTABLE:=', 'TEL:='), 'BEGIN:VCARD\nFN:cut\nTEL:12345']) assert.deepEqual(cards(text), [], text);
  const long = card('FN:' + '가'.repeat(5000), 'TEL:' + '1'.repeat(15));
  assert.equal(cards(long)[0].name.length, 200);
  assert.equal(contact('1'.repeat(21)), null);
  const began = Date.now();
  cards('FN;'.repeat(200_000) + '\n' + 'A:'.repeat(200_000) + '\n' + card('N:' + ';'.repeat(200_000), 'TEL:' + '+'.repeat(200_000)));
  assert.ok(Date.now() - began < 2_000);
});
