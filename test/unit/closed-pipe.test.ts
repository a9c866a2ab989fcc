import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';

const ARGUMENTS = join(import.meta.dirname, '../../platform/command-line/arguments.ts');

t.test('ends a command without a stack when the reader of its output is gone', async (t) => {
  // Writes until the pipe is closed, however long its reader takes to end.
  const script = `import { processArguments } from ${JSON.stringify(ARGUMENTS)};
    processArguments('');
    setInterval(() => process.stdout.write('line\\n'), 1);`;
  const pipe = '{ "$0" --input-type=module -e "$1"; echo "exit $?" >&2; } | true';
  const { stderr, stdout } = spawnSync('sh', ['-c', pipe, process.execPath, script], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  t.equal(stderr, 'exit 1\n');
  t.equal(stdout, '');
});
