import '../shared/base.css';
import './frame/console.css';
import './item/note.css';
import './item/drawer.css';
import './frame/pages.css';
import { render } from 'preact';
import { Console } from './frame/console.tsx';
import { listenToClicks } from './frame/double-clicks.ts';
import { listenToKeys } from './frame/keys.ts';
import { resumeSession } from './frame/signing-in.ts';
import { followCounts } from './live/notifications.ts';

const place = document.getElementById('page');
if (place) render(<Console />, place);
listenToClicks();
listenToKeys();
followCounts();
void resumeSession();
