import { randomBytes } from 'node:crypto';
import t from 'tap';
import { keyFrom } from '../../cli/backup/sealed-keys.ts';

t.test('derives another key for each passphrase, salt and file, and the same again', async (t) => {
  const [salt, otherSalt] = [randomBytes(16), randomBytes(16)];
  const key = (passphrase: string, salt: Buffer, file: string) =>
    keyFrom(passphrase, salt, file).toString('hex');
  const first = key('correct horse battery', salt, 'notes');
  const others = [
    key('another passphrase', salt, 'notes'),
    key('correct horse battery', otherSalt, 'notes'),
    key('correct horse battery', salt, 'members'),
  ];
  t.equal(new Set([first, ...others]).size, 4);
  t.equal(key('correct horse battery', Buffer.from(salt), 'notes'), first);
});
