import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { temporaryFolder } from '../../../harness/temporary-folder.ts';
import { startService } from '../../support/service.ts';

const run = promisify(execFile);
const COMMAND = join(
  import.meta.dirname,
  '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
);

/** Scenarios by revision. The others ask for fixture tools, which a real service has no use for. */
const SCENARIOS = {
  '2025-11-25': [
    'server-initialize',
    'ping',
    'tools-list',
    'resources-list',
    'dns-rebinding-protection',
  ],
  '2026-07-28': [
    'server-stateless',
    'sep-2164-resource-not-found',
    'caching',
    'http-header-validation',
  ],
};

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

/** What a check says that only wants one of the suite's own fixture tools. */
const FIXTURE = /^Not testable: server does not list the diagnostic tool 'test_/;

for (const [revision, scenarios] of Object.entries(SCENARIOS))
  t.test(`the conformance suite of MCP agrees, revision ${revision}`, async (t) => {
    const service = await startService(t);
    for (const scenario of scenarios) {
      const folder = temporaryFolder('conformance');
      t.teardown(folder.remove);
      // It fails where a fixture tool is missing; the checks are read one by one instead.
      await run(process.execPath, [
        COMMAND,
        ...['server', '--url', `${service.baseUrl}/mcp`, '--scenario', scenario],
        ...['--spec-version', revision, '--output-dir', folder.path],
      ]).catch(() => undefined);
      const [file] = globSync(join(folder.path, '*', 'checks.json'));
      const checks: Check[] = file ? JSON.parse(readFileSync(file, 'utf8')) : [];
      t.ok(
        checks.some(({ status }) => status === 'SUCCESS'),
        `${scenario} ran`,
      );
      for (const { id, status, errorMessage = '' } of checks)
        if (!FIXTURE.test(errorMessage))
          t.ok(
            ['SUCCESS', 'INFO', 'SKIPPED'].includes(status),
            `${scenario}: ${id} ${errorMessage}`,
          );
    }
  });
