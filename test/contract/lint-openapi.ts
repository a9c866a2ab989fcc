// `npm run lint:openapi`: Redocly's rules for both documents, as the service publishes them: with open
// answers and the recorded examples.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTool, NO_TOOLS } from '../../harness/tools.ts';
import { addExamples } from '../../platform/http/examples.ts';
import { toOpenApi30 } from '../../platform/http/openapi-3.0.ts';
import { openAnswers } from '../../platform/http/openapi-growth.ts';

const ROOT = join(import.meta.dirname, '../..');
const redocly = findTool('@redocly/cli/bin/cli.js');
if (!redocly) throw new Error(NO_TOOLS);

const document = openAnswers(
  JSON.parse(readFileSync(join(import.meta.dirname, 'openapi.golden.json'), 'utf8')),
);
addExamples(document, 'https://service.test');

const folder = mkdtempSync(join(tmpdir(), 'lint-openapi-'));
try {
  const files = Object.entries({
    'openapi.json': document,
    'openapi-3.0.json': toOpenApi30(document),
  });
  for (const [name, content] of files) writeFileSync(join(folder, name), JSON.stringify(content));
  const { status } = spawnSync(
    process.execPath,
    [
      redocly,
      'lint',
      ...files.map(([name]) => join(folder, name)),
      `--config=${join(ROOT, 'redocly.yaml')}`,
      // POST /guestbook answers a form: it redirects (303), which the rule does not take for success.
      '--skip-rule=operation-2xx-response',
    ],
    {
      stdio: 'inherit',
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  );
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
