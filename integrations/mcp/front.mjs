// Passes HTTP through unchanged and adds the key of the gateway, which the conformance suite cannot send.
//
// node front.mjs UPSTREAM_URL KEY_FILE: prints its own address. `Host` and `Origin` stay the client's.
import fs from 'node:fs';
import http from 'node:http';

const upstream = new URL(process.argv[2]);
const key = fs.readFileSync(process.argv[3], 'utf8').trim();

const server = http.createServer((request, response) => {
  const forwarded = http.request(
    {
      host: upstream.hostname,
      port: upstream.port,
      method: request.method,
      path: upstream.pathname,
      headers: { ...request.headers, authorization: `Bearer ${key}` },
    },
    (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    },
  );
  forwarded.on('error', () => response.destroy());
  // A client that goes away must be seen behind this program, too.
  response.on('close', () => forwarded.destroy());
  request.pipe(forwarded);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
