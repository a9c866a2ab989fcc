/** What a check has found. `command` mends it. */
export interface Finding {
  level: 'ok' | 'warn' | 'bad';
  text: string;
  command?: string;
}

export const ok = (text: string): Finding => ({ level: 'ok', text });

/** The service works, but something that it relies on may fail it. */
export const warn = (text: string, command: string): Finding => ({ level: 'warn', text, command });

/** The service does not work, or loses what it promised to keep. */
export const bad = (text: string, command: string): Finding => ({ level: 'bad', text, command });

/** The findings, or `text` if there are none. */
export const orOk = (findings: (Finding | false | undefined)[], text: string): Finding[] => {
  const found = findings.filter((finding) => finding !== false && finding !== undefined);
  return found.length > 0 ? found : [ok(text)];
};

/** Formats a finding of a check as one line. */
export const formatFinding = (check: string, { level, text, command }: Finding): string =>
  `${level.padEnd(4)}  ${check.padEnd(13)}  ${command === undefined ? text : `${text}: ${command}`}\n`;
