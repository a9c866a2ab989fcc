import { createState } from '../session/store.ts';

export const helpState = createState({ help: false }, { view: ['help'] });

export const showHelp = (help: boolean): void => helpState.set({ help });
