// Refused requests over kept connections, by fetch and by an agent. The argument is JSON: the kinds
// of refusals, the bodies, and how many requests of each kind are sent.

import http from 'node:http';

const {kinds, bodies, count} = JSON.parse(process.argv[2]);

async function byFetch(kind, body) {
    const {url, path, method, headers} = kind;
    const response = await fetch(url + path, {method, headers, body});
    await response.text();
    return response.status;
}

const agent = new http.Agent({keepAlive: true, maxSockets: 4});

function byAgent(kind, body) {
    const {url, path, method, headers} = kind;
    const length = {'content-length': Buffer.byteLength(body)};
    return new Promise((done, failed) => {
        const request = http.request(url + path, {agent, method, headers: {...headers, ...length}});
        request.on('error', failed);
        request.on('response', (response) => {
            response.resume();
            response.on('error', failed);
            response.on('end', () => done(response.statusCode));
        });
        // The body in a packet of its own.
        request.flushHeaders();
        request.end(body);
    });
}

const found = {};
for (const [client, ask] of Object.entries({fetch: byFetch, agent: byAgent})) {
    for (const [name, kind] of Object.entries(kinds)) {
        const seen = {};
        let next = 0;
        const worker = async () => {
            while (next < count) {
                const body = bodies[next++ % bodies.length];
                const outcome = await ask(kind, body).catch((error) => String(error.cause ?? error));
                seen[outcome] = (seen[outcome] ?? 0) + 1;
            }
        };
        await Promise.all([worker(), worker(), worker(), worker()]);
        found[`${client} ${name}`] = seen;
    }
}
agent.destroy();
console.log(JSON.stringify(found));
