// SPDX-License-Identifier: GPL-2.0-only

// user-classes-go CASE: goroutines that wait for each other. They do not sleep in futex(2), but the
// idle threads of Go do, for work, whatever goroutines wait for: none of them waits for a lock.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

const goroutines = 3

var (
	mutex  sync.Mutex
	rwlock sync.RWMutex
	guard  sync.Mutex
	work   = sync.NewCond(&guard)
	ch     = make(chan int)
)

var cases = map[string]func(){
	"W-mutex":   mutex.Lock,
	"W-rwlock":  rwlock.RLock,
	"W-channel": func() { <-ch },
	"W-cond":    func() { guard.Lock(); work.Wait() },
}

// busy makes the runtime start threads, which are idle afterwards.
func busy() {
	var all sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		all.Add(1)
		go func() {
			runtime.LockOSThread()
			time.Sleep(time.Millisecond)
			all.Done()
			runtime.UnlockOSThread()
		}()
	}
	all.Wait()
}

func main() {
	if len(os.Args) < 2 {
		for name := range cases {
			fmt.Println(name)
		}
		return
	}
	wait, found := cases[os.Args[1]]
	if !found {
		os.Exit(2)
	}
	mutex.Lock()
	rwlock.Lock()
	busy()
	for i := 0; i < goroutines; i++ {
		go wait()
	}
	for n, b := 1, make([]byte, 1); n > 0; {
		n, _ = os.Stdin.Read(b)
	}
}
