import { execFileSync } from 'node:child_process';
import t from 'tap';
import { shellWord } from '../../cli/doctor/check.ts';

t.test('a path in a command of the doctor is one word to a shell', (t) => {
  t.equal(shellWord('/srv/data-1/2026-11-30T1427'), '/srv/data-1/2026-11-30T1427');
  for (const path of ['/dä ta', "/it's", '/$HOME', '/a"b', '/`id`', '/*', '/a\\b', ''])
    t.equal(execFileSync('sh', ['-c', `printf %s ${shellWord(path)}`]).toString(), path);
  t.end();
});
