import { exitOnClosedPipe } from '../platform/command-line/arguments.ts';
import { verifyLog } from './verify-log-command.ts';

exitOnClosedPipe();
const { status, out, err } = await verifyLog(process.argv.slice(2));
process.stdout.write(out);
process.stderr.write(err);
process.exitCode = status;
