"""The only way out of Chromium: a proxy on loopback that connects to what the policy allows.

    listener    accepts Chromium's connections, asks for the run's secret, bounds them
    exchange    one connection: requests in HTTP/1.1, or one tunnel
    dial        name -> addresses -> all of them checked -> connected to one of those
    upstream    the proxy that this machine itself has to go through, if any
    refusals    what was refused or failed, so that the run can say why

A name is resolved here and nowhere else, and the address that was checked is the one that is
dialled: redirects, subresources, workers, sockets and names that change their address between
two looks are covered because there is no other road. Nothing is decrypted: what comes through
a tunnel is the business of the two ends.
"""
