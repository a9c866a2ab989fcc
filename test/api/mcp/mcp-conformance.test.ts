import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { temporaryFolder } from '../../../harness/temporary-folder.ts';
import { findTool, NO_TOOLS } from '../../../harness/tools.ts';
import { startService } from '../../support/service.ts';

const run = promisify(execFile);
const command = findTool('@modelcontextprotocol/conformance/dist/index.js') ?? '';
// .ci/run installs the suite; elsewhere it may be missing.
const skip = command ? false : NO_TOOLS;
if (skip) console.error(`SKIPPED: the MCP conformance suite; ${skip}`);

/** Scenarios by revision. The other scenarios require fixture tools, which a real service lacks. */
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

/** The message of a check that requires a fixture tool. */
const FIXTURE = /^Not testable: server does not list the diagnostic tool 'test_/;

for (const [revision, scenarios] of Object.entries(SCENARIOS))
  t.test(`passes the MCP conformance suite, revision ${revision}`, { skip }, async (t) => {
    const service = await startService(t);
    for (const scenario of scenarios) {
      const folder = temporaryFolder('conformance');
      t.teardown(folder.remove);
      // The suite fails if a fixture tool is missing, so read its checks instead.
      await run(process.execPath, [
        command,
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
