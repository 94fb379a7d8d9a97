// Where this document is: [url, title, readyState].
() => [location.href, document.title, document.readyState]
