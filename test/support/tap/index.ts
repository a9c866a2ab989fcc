// tap without its command, which would install 163 packages more: test/run.ts runs the files.

import { tap } from '@tapjs/core';

export type { Test } from '@tapjs/test';
export default tap();
