"use strict";

// Browsers start no workers for pages that are files on the disk. There, the search of the site runs in a frame instead:
// what the page posts to it are events in the frame, and what the frame posts are events of the worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.pending = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inner.importScripts = (...addresses) => addresses.reduce((before, each) => before.then(() => this.load(each)), Promise.resolve());
      this.load(address).then(() => {
        this.isReady = true;
        this.pending.splice(0).forEach((data) => this.postMessage(data));
      });
    }

    load(address) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = new URL(address, location.href);
        script.onload = resolve;
        script.onerror = reject;
        this.frame.contentDocument.body.append(script);
      });
    }

    postMessage(data) {
      if (this.isReady) this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      else this.pending.push(data);
    }

    terminate() {
      this.frame.remove();
    }
  };
}
